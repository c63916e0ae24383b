"""Static profile: what a model costs, and bounds of the memory that it takes, from shapes alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.errors import OptionError
from neural_cost.analyzer.node import Unknown
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.walk import NodeCost
from neural_cost.estimates import Estimate, estimate_model

if TYPE_CHECKING:
    from neural_cost.adapters.protocol import FrameworkAdapter


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticMemory(Record):
    """Bounds of the memory that a model takes, in bytes; None where a size that they need is not known.

    What kernels need for themselves, and what an allocator rounds up or keeps, is in none of them.

    Attributes:
        parameter_bytes: the weights.
        activation_minimum_bytes: the largest output of an operation: it has to be somewhere.
        activation_conservative_bytes: the outputs of all operations at once, each as often as it runs.
        gradient_bytes: one gradient for each weight, of its size; 0 without training.
        optimizer_state_bytes: what the optimizer keeps, a multiple of the weights; 0 without training.
        training: whether the model is trained.
    """

    parameter_bytes: int
    activation_minimum_bytes: int | None
    activation_conservative_bytes: int | None
    gradient_bytes: int
    optimizer_state_bytes: int
    training: bool

    @property
    def inference_minimum_bytes(self) -> int | None:
        """Weights, and the largest output."""
        return _plus(self.parameter_bytes, self.activation_minimum_bytes)

    @property
    def inference_conservative_bytes(self) -> int | None:
        """Weights, and all outputs."""
        return _plus(self.parameter_bytes, self.activation_conservative_bytes)

    @property
    def training_minimum_bytes(self) -> int | None:
        """Weights, gradients, the optimizer's state and the largest output; None where training was not asked for."""
        return _plus(self._state_bytes, self.activation_minimum_bytes) if self.training else None

    @property
    def training_conservative_bytes(self) -> int | None:
        """The same with all outputs, as if each were kept for the backward pass."""
        return _plus(self._state_bytes, self.activation_conservative_bytes) if self.training else None

    @property
    def _state_bytes(self) -> int:
        return self.parameter_bytes + self.gradient_bytes + self.optimizer_state_bytes

    def to_dict(self) -> dict[str, Any]:
        """Every field, and their sums."""
        kinds = ("inference", "training") if self.training else ("inference",)
        sums = [f"{kind}_{bound}_bytes" for kind in kinds for bound in ("minimum", "conservative")]
        return asdict(self) | {name: getattr(self, name) for name in sums}


@dataclass(frozen=True, slots=True)
class ModelProfile(Record):
    """What a model costs and holds.

    Attributes:
        estimate: FLOPs and traffic. Its `report`, where it has one, also gives the exact figures: `report.memory` of
            what is alive when, `report.training()` of what the backward pass computes and keeps.
        memory: bounds of the memory.
    """

    estimate: Estimate
    memory: StaticMemory

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"estimate": self.estimate.to_dict(), "memory": self.memory.to_dict()}

    def __str__(self) -> str:
        """The table of the estimate, and the memory."""
        return f"{self.estimate}\n{self.memory}"


def profile_model(
    model: Any,
    example_inputs: Any,
    adapter: FrameworkAdapter | None = None,
    *,
    training: bool = False,
    optimizer_state_multiplier: float = 0,
) -> ModelProfile:
    """Cost a model of a framework, and bound the memory that it takes; nothing is run but the export.

    Args:
        model: as the adapter takes it.
        example_inputs: as the model takes them.
        adapter: what reads it; by default that of its framework.
        training: count gradients and the optimizer's state.
        optimizer_state_multiplier: bytes that the optimizer keeps for each byte of weights: 0 for plain SGD, 1 with
            momentum, 2 for the two moments of Adam.

    Raises:
        ExportError, BackendError: as `estimate_model`.
        OptionError: a multiplier below 0.
    """
    if not optimizer_state_multiplier >= 0:
        raise OptionError(f"optimizer_state_multiplier cannot be {optimizer_state_multiplier}: it is 0 or more.")
    found = estimate_model(model, example_inputs, adapter)
    return ModelProfile(found, static_memory(found, training=training, multiplier=optimizer_state_multiplier))


def static_memory(found: Estimate, *, training: bool = False, multiplier: float = 0) -> StaticMemory:
    """Bounds of the memory of what was estimated; see `profile_model`."""
    outputs = list(_outputs(found.opened.nodes))
    known = [size for size, _ in outputs if size is not None]
    runs = [None if size is None or repeats is None else size * repeats for size, repeats in outputs]
    weights = found.parameter_bytes
    return StaticMemory(
        parameter_bytes=weights,
        activation_minimum_bytes=max(known, default=0) if len(known) == len(outputs) else None,
        activation_conservative_bytes=None if None in runs else sum(size for size in runs if size is not None),
        gradient_bytes=weights if training else 0,
        optimizer_state_bytes=round(multiplier * weights) if training else 0,
        training=training,
    )


def _outputs(nodes: Sequence[NodeCost]) -> Iterator[tuple[int | None, int | None]]:
    """Bytes of each output that is memory of its own, and how often it is made; a view is none."""
    for node in nodes:
        if node.constant or node.repeats == 0 or (node.cost is not None and not node.cost.write_bytes):
            continue
        for tensor in node.node.outputs:
            if tensor is not None:
                try:
                    yield int(tensor.bytes), node.repeats
                except Unknown:
                    yield None, node.repeats


def _plus(one: int, other: int | None) -> int | None:
    return None if other is None else one + other

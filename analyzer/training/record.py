"""The record of what training costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.expressions import Formula
from neural_cost.analyzer.memory.fits import Fits
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.training.options import TrainingOptions

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class NodeTraining(Record):
    """The backward pass of one execution of a node, whose figures are None where they are not known.

    Attributes:
        macs: forward.
        input_macs: of the gradients that go on to other nodes.
        weight_macs: of the gradients of weights.
        saved_bytes: what it is the first to need kept, in all executions.
        why: why a figure is not known.
    """

    index: int
    name: str
    op_type: str
    domain: str
    scope: str
    graph: str
    repeats: int | None
    macs: int | None
    input_macs: int | None
    weight_macs: int | None
    backward_flops: int | None
    saved_bytes: int | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Trade(Record):
    """Checkpointing with so many segments: what is kept, and what is computed again for it."""

    segments: int
    saved_bytes: int
    recomputed_macs: int
    recomputed_flops: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Convention(Record):
    """The plain rule of thumb, beside the graph's own figures, as NNS states it.

    FLOPs(backward) = 2 x FLOPs(forward); memory(training) = 2 x memory(forward), which is what all nodes write.
    """

    backward_macs: int
    training_macs: int
    memory_forward_bytes: int
    memory_training_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class TrainingCost(Record):
    """What training costs. MACs and FLOPs are those of one pass over one batch, but for those of a step.

    Attributes:
        complete: False where something in `uncounted` or `unknown` is left out of the sums.
        forward_macs, forward_flops: as the report has them: Dropout drops nothing, BatchNormalization reads statistics.
        backward_macs: `input_macs` and `weight_macs`: of gradients that go on to other nodes, and of weights.
        recomputed_macs, recomputed_flops: what checkpointing computes again.
        step_macs, step_flops: of one step of the optimizer: all its passes, and the step itself.
        parameters, frozen_parameters: elements of trained and of other weights.
        weight_bytes: of all weights, as the precision has them; `copy_bytes` of their second copy: a master copy in
            float32, or one in 16 bits.
        saved_bytes: activations that the backward pass needs kept, each memory once, graph inputs among them:
            `saved_input_bytes`. With checkpointing, the most that is held of them at once.
        memory_bytes: weights, their copy, gradients, the optimizer's state and saved activations. What kernels need for
            themselves, and gradients of activations on their way, are not in it.
        checkpoints: what checkpointing in so many segments would come to.
        fits: whether that goes into the memory of the report's device, and the largest batch that does.
        made: finds the formulas.
    """

    options: TrainingOptions
    complete: bool
    forward_macs: int
    forward_flops: int
    backward_macs: int
    input_macs: int
    weight_macs: int
    backward_flops: int
    recomputed_macs: int
    recomputed_flops: int
    step_macs: int
    step_flops: int
    parameters: int
    frozen_parameters: int
    weight_bytes: int
    copy_bytes: int
    gradient_bytes: int
    optimizer_bytes: int
    saved_bytes: int
    saved_input_bytes: int
    memory_bytes: int
    convention: Convention
    checkpoints: Sequence[Trade]
    nodes: Sequence[NodeTraining]
    uncounted: Sequence[Mapping[str, Any]]
    unknown: Sequence[Mapping[str, Any]]
    notes: Sequence[str]
    fits: Fits | None
    made: Callable[[], Mapping[str, Formula]] = field(repr=False, compare=False)

    @property
    def formulas(self) -> Mapping[str, Formula]:
        """Figures in open dimensions; empty where none is open, or the graph has no formula."""
        return self.made()

    def to_dict(self) -> dict[str, Any]:
        """Plain data; formulas as text."""
        found = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "made"}
        lists = {name: [each.to_dict() for each in found[name]] for name in ("checkpoints", "nodes")}
        texts = {name: str(formula) for name, formula in self.formulas.items()}
        plain = {name: list(found[name]) for name in ("uncounted", "unknown", "notes")}
        return (
            found
            | lists
            | plain
            | {
                "options": self.options.to_dict(),
                "convention": self.convention.to_dict(),
                "formulas": texts,
                "fits": None if self.fits is None else self.fits.to_dict(),
            }
        )

    def to_dataframe(self) -> pd.DataFrame:
        """The nodes that run backward as a table of pandas, which must be installed."""
        import pandas as pd

        return pd.DataFrame(
            [node.to_dict() for node in self.nodes], columns=list(NodeTraining.__slots__)
        ).convert_dtypes()

    def __str__(self) -> str:
        """The table that the command shows."""
        from neural_cost.analyzer.tables.text import to_text
        from neural_cost.analyzer.tables.training import training

        return to_text(training(self))

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        from neural_cost.analyzer.tables.html import to_html
        from neural_cost.analyzer.tables.training import training

        return to_html(training(self))

"""What a user says about a training run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from neural_cost.analyzer.errors import OptionError


class Optimizer(StrEnum):
    """How weights are stepped. Each has the state that PyTorch keeps for it, `adam8bit` that of bitsandbytes."""

    SGD = "sgd"
    MOMENTUM = "momentum"
    ADAM = "adam"
    ADAMW = "adamw"
    ADAFACTOR = "adafactor"
    ADAM8BIT = "adam8bit"


class Precision(StrEnum):
    """Which types weights, gradients, activations and optimizer state have. `WIDTHS` has their bytes.

    file: all as the file has them. fp32: all float32. bf16: all 16 bits. amp: float32 weights and gradients, a copy of
    the weights in 16 bits, activations in 16 bits (autocast). mixed: weights, gradients and activations in 16 bits,
    with a float32 master copy of the weights that the optimizer steps.
    """

    FILE = "file"
    FP32 = "fp32"
    BF16 = "bf16"
    AMP = "amp"
    MIXED = "mixed"


class Checkpoint(StrEnum):
    """What is not kept but computed again.

    none: nothing. block: each numbered module of the model keeps what it reads alone. sqrt: as many segments as the
    square root of the number of nodes, each of which but the last keeps what it reads alone.
    """

    NONE = "none"
    BLOCK = "block"
    SQRT = "sqrt"


class Widths(NamedTuple):
    """Bytes of one element; None for what the file has. `copy` is a second copy of the weights."""

    weight: int | None
    gradient: int | None
    state: int | None
    activation: int | None
    copy: int = 0


WIDTHS = {
    Precision.FILE: Widths(None, None, None, None),
    Precision.FP32: Widths(4, 4, 4, 4),
    Precision.BF16: Widths(2, 2, 2, 2),
    Precision.AMP: Widths(4, 4, 4, 2, copy=2),
    Precision.MIXED: Widths(2, 2, 4, 2, copy=4),
}


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """A training run.

    Attributes:
        freeze: patterns of names of weights that are not trained, as in a shell: "embed*".
        accumulate: passes whose gradients are added up before a step.

    Raises:
        OptionError: an option that does not exist.
    """

    optimizer: Optimizer | str = Optimizer.ADAMW
    precision: Precision | str = Precision.FILE
    freeze: Iterable[str] = ()
    checkpoint: Checkpoint | str = Checkpoint.NONE
    accumulate: int = 1

    def __post_init__(self) -> None:
        for name, kind in (("optimizer", Optimizer), ("precision", Precision), ("checkpoint", Checkpoint)):
            object.__setattr__(self, name, _member(name, kind, getattr(self, name)))
        given: object = (self.freeze,) if isinstance(self.freeze, str) else self.freeze
        patterns = list(given) if isinstance(given, Iterable) else [given]
        if not all(isinstance(each, str) for each in patterns):
            raise OptionError(f"freeze cannot be {self.freeze!r}: it is patterns of names, such as ['embed*'].")
        object.__setattr__(self, "freeze", tuple(patterns))
        if isinstance(self.accumulate, bool) or not isinstance(self.accumulate, int) or self.accumulate < 1:
            raise OptionError(f"accumulate cannot be {self.accumulate!r}: it is a whole number from 1 up.")

    @property
    def widths(self) -> Widths:
        """Bytes of one element of weights, gradients, state and activations."""
        return WIDTHS[Precision(self.precision)]

    def to_dict(self) -> dict[str, object]:
        """Plain data."""
        texts = {name: str(getattr(self, name)) for name in ("optimizer", "precision", "checkpoint")}
        return texts | {"freeze": list(self.freeze), "accumulate": self.accumulate}


def _member(name: str, kind: type[StrEnum], value: str) -> StrEnum:
    try:
        return kind(value)
    except ValueError:
        raise OptionError(f"{name} cannot be {value!r}: it is one of {', '.join(kind)}.") from None

"""Does a model fit a device, and how large a batch does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.record import Record

if TYPE_CHECKING:
    from neural_cost.analyzer.device import Device
    from neural_cost.analyzer.expressions import Formula


class InPlace(StrEnum):
    """Which figure of activations has to go into a device's memory: as liveness has it, the lower or the upper one."""

    BOTH = "both"
    WITH = "with"
    WITHOUT = "without"


LARGEST = 2**40  # sizes are not searched beyond it


@dataclass(frozen=True, slots=True)
class Fits(Record):
    """Whether weights and activations go into a device's memory. What kernels need is not known, so no more.

    Attributes:
        memory_bytes: size of the device's memory; None where it is not known.
        needed_bytes: weights, and the plain peak; of a training run all that it holds.
        fits: None where one of the two is not known, and `why` says which.
        dim: the open dimension that was made as large as fits: one named as a batch, or the only one.
        largest: that size, the other dimensions as they are; None where no formula tells, or nothing limits it.
    """

    device: str
    memory_bytes: int | None
    needed_bytes: int | None
    fits: bool | None
    dim: str | None
    largest: int | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def fits(
    device: Device, weight_bytes: int, peak_bytes: int | None, formula: Formula | None, sizes: Mapping[str, int]
) -> Fits:
    """Compare with a device's memory; `formula` is that of the peak in the open dimensions, `sizes` what they are."""
    memory = device.memory_bytes
    needed = None if peak_bytes is None else weight_bytes + peak_bytes
    if memory is None or needed is None:
        why = "the device's memory is not known" if memory is None else "what activations need is not known"
        return Fits(device.name, memory, needed, None, None, None, why)
    dim = batch_of(list(sizes))
    if dim is None or formula is None:
        missing = "what activations need has no formula, so the largest is not told"
        why = _no_batch(list(sizes)) if dim is None else missing
        return Fits(device.name, memory, needed, needed <= memory, None, None, why)
    largest = _largest(lambda size: weight_bytes + formula({**sizes, dim: size}) <= memory)
    why = "" if largest is not None else f"no size of {dim} is too large, or none is small enough"
    return Fits(device.name, memory, needed, needed <= memory, dim, largest, why)


def _no_batch(names: Sequence[str]) -> str:
    if not names:
        return "no open dimension is the batch, so the largest is not told: leave the batch without a size"
    known = ", ".join(f'"{name}"' for name in names)
    return f"which of {known} is the batch is not known, so the largest is not told: give the others a size"


def batch_of(names: Sequence[str]) -> str | None:
    """The open dimension that is the batch: the one that is named so, or the only one there is."""
    named = [name for name in names if "batch" in name.lower()]
    if len(named) == 1:
        return named[0]
    return names[0] if len(names) == 1 else None


def _largest(good: Callable[[int], bool]) -> int | None:
    """The largest size up to which all are good, which holds as the peak grows with every dimension."""
    if not good(1) or good(LARGEST):
        return None
    low, high = 1, LARGEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low

"""What a device's points cannot rise above: a roof for each compute type, a slope for each level of its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from neural_cost.analyzer.compute_type import canonical
from neural_cost.analyzer.tables.figures import plain

if TYPE_CHECKING:
    from neural_cost.analyzer.device import Device

SAME_LEVEL = 0.6  # of a level's best rate: below that another one begins
SAME_AS_LARGEST = 1.1  # times the rate at the largest working set: what is not faster is that memory
RATES = (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("K", 1e3))


@dataclass(frozen=True, slots=True)
class Roof:
    """FLOP/s that arithmetic of these types cannot exceed; `flops` is how much of the model is in them."""

    types: tuple[str, ...]
    flops_per_s: float
    flops: int

    @property
    def used(self) -> bool:
        """Whether the model computes in one of its types."""
        return self.flops > 0

    @property
    def label(self) -> str:
        """Types and rate."""
        return f"{', '.join(self.types)}\n{rate(self.flops_per_s)}FLOP/s"


@dataclass(frozen=True, slots=True)
class Slope:
    """Bytes/s that a working set of some size cannot exceed; `level` names the sizes."""

    level: str
    bytes_per_s: float

    @property
    def label(self) -> str:
        """Rate and level."""
        return f"{rate(self.bytes_per_s)}B/s {self.level}"


def roofs(device: Device, flops_by_type: Mapping[str, int]) -> list[Roof]:
    """The peaks of the types that a model computes in and of those that the device has a figure for, lowest first.

    Types of one rate share a roof. A type whose peak is not known has none.
    """
    wanted: dict[str, int] = {}
    for kind, flops in flops_by_type.items():
        if (name := canonical(kind)) is not None and flops:
            wanted[name] = wanted.get(name, 0) + flops
    types: dict[float, list[str]] = {}
    for name in (*(kind for kind in device.peaks if kind in wanted), *sorted(wanted), *device.peaks):
        peak = device.peak(name)
        if peak is not None and name not in types.get(peak, ()):
            types.setdefault(peak, []).append(name)
    return [Roof(tuple(names), peak, sum(wanted.get(n, 0) for n in names)) for peak, names in sorted(types.items())]


def slopes(device: Device) -> list[Slope]:
    """The levels of memory, fastest first; of a datasheet there is one.

    A measured curve is cut where its rate drops. A level's rate is the best one in it, so that it stays a ceiling.
    """
    if device.cold:
        return [Slope("DRAM", rate) for _, rate in device.bandwidth_curve[-1:]]
    levels = _levels([(size, device.bandwidth(size) or rate) for size, rate in device.bandwidth_curve])
    starts = [level[0][0] for level in levels]
    return [Slope(name, level[0][1]) for name, level in zip(_sizes(starts), levels, strict=True)]


def _levels(curve: Sequence[tuple[int, float]]) -> list[list[tuple[int, float]]]:
    """Neighbours of like rate, by rising working set."""
    slowest = curve[-1][1] if curve else 0.0
    found: list[list[tuple[int, float]]] = []
    for size, rate_ in curve:
        last = found[-1][0][1] if found else 0.0
        new_memory = rate_ <= SAME_AS_LARGEST * slowest < last
        if not found or rate_ < SAME_LEVEL * last or new_memory:
            found.append([])
        found[-1].append((size, rate_))
    return found


def _sizes(starts: Sequence[int]) -> list[str]:
    """The working sets of each level, which start at these sizes; the first holds for all that is smaller too."""
    if len(starts) < 2:
        return ["any working set"] * len(starts)
    between = [f"{_size(low)} to {_size(high)}" for low, high in pairwise(starts[1:])]
    return [f"below {_size(starts[1])}", *between, f"from {_size(starts[-1])}"]


def _size(held: int) -> str:
    return f"{held >> 20} MiB" if held >= 1 << 20 else f"{held >> 10} KiB"


def rate(value: float) -> str:
    """A rate with the prefix that fits it, ready for a unit: "19.5 T"."""
    prefix, scale = next(((prefix, scale) for prefix, scale in RATES if value >= scale), ("", 1.0))
    return f"{plain(value / scale)} {prefix}"

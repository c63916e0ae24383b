"""Kernel rates: how long kernels of each kind took by themselves on a machine, and what lies between the sizes.

A kind is timed on a grid of sizes. Between them the time is taken as linear in each size (in the square of some), as
work plus a fixed cost is; beyond the largest it grows in proportion. Below the smallest it stays, but for the places of
convolutions, which go on along that line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import inf
from typing import Any, NamedTuple

from neural_cost.analyzer.record import Record

FAR = 4.0  # times the largest size, or below the smallest, from where on a time is doubted
# Place of the size that the work grows with the square of.
SQUARES: Mapping[str, int] = dict.fromkeys(("LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"), 2)
# Place of the size that is work alone: with fewer of them a kernel is faster, where with fewer channels, say, it may
# compute a whole vector of them all the same.
PLACES: Mapping[str, int] = dict.fromkeys(
    (
        "conv 1x1", "conv 3x3", "conv 5x5", "first conv 3x3", "first conv 7x7", "depthwise 3x3",
        "depthwise 3x3 strided", "depthwise 5x5", "plain depthwise", "ConvTranspose",
    ),
    0,
)  # fmt: skip
# Kinds whose sizes are runs of elements and how long each is: a long run is as good as several shorter ones.
RUNS = frozenset({
    "Transpose", "Gather", "Concat", "Slice", "Split", "Expand", "Pad", "Add broadcast", "Where broadcast",
    "Where scalar", "BiasGelu", "GatherND", "ScatterND", "Tile",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPoint:
    """One kernel that was timed.

    Attributes:
        kind: of kernel; `analyzer/prediction/kinds.py` says what its sizes are.
        threads: that worked on it.
        sizes: of what it worked on.
        seconds: the shortest time of all samples, without what a run costs besides its kernels.
        spread: how much longer the median sample took, as a part of the shortest.
    """

    kind: str
    threads: int
    sizes: tuple[int, ...]
    seconds: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRates(Record):
    """All kernels that were timed on a machine.

    Attributes:
        date: when, in UTC, as ISO 8601.
        versions: of what measured.
        points: of all kinds.
        run_s: seconds of a run besides its kernels, by the number of threads.
        nchwc_block: channels that ONNX Runtime packs together in convolutions; 0 where it has no such layout.
        cold: how much slower a byte of weights is that another kernel's weights have driven out of the caches:
            seconds a byte more than where the same kernel runs again and again, by the number of threads.
        cache_bytes: of the last cache: what a run touches beyond that drives weights out of it.
        left_out: kinds that could not be timed, each with the reason.
        notes: what makes the figures doubtful.
    """

    date: str
    versions: Mapping[str, str]
    points: tuple[KernelPoint, ...]
    run_s: Mapping[int, float]
    nchwc_block: int
    cold: Mapping[int, float]
    cache_bytes: int
    left_out: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, from which `from_dict` makes it again; points as short lists."""
        points = [[p.kind, p.threads, list(p.sizes), p.seconds, p.spread] for p in self.points]
        by_threads = {name: {str(n): s for n, s in getattr(self, name).items()} for name in ("run_s", "cold")}
        fields = {name: getattr(self, name) for name in self.__slots__}
        return fields | by_threads | {"points": points, "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> KernelRates:
        """Read what `to_dict` wrote.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        points = tuple(
            KernelPoint(kind=kind, threads=threads, sizes=tuple(sizes), seconds=seconds, spread=spread)
            for kind, threads, sizes, seconds, spread in data["points"]
        )
        by_threads = {name: {int(n): float(s) for n, s in data[name].items()} for name in ("run_s", "cold")}
        found = cls(**{**data, **by_threads, "points": points, "notes": tuple(data["notes"])})
        found._check()
        return found

    def _check(self) -> None:
        """Refuse what no measurement gives. Raises ValueError."""
        counts = [self.nchwc_block, self.cache_bytes, *(size for point in self.points for size in point.sizes)]
        times = [*self.run_s.values(), *self.cold.values(), *(point.seconds for point in self.points)]
        ranks = {(point.kind, len(point.sizes)) for point in self.points}
        fits = (
            all(isinstance(each, int) and each >= 0 for each in counts)
            and all(isinstance(each, int | float) and 0 <= each < inf for each in times)
            and all(min(point.sizes, default=0) > 0 and point.threads in self.run_s for point in self.points)
            and len(ranks) == len({kind for kind, _ in ranks})
            and len(self.points) > 0
            and set(self.run_s) == set(self.cold)
        )
        if not fits:
            raise ValueError("these are no times of kernels")

    def table(self, threads: int) -> KernelTable:
        """What was timed with the number of threads nearest to this one."""
        nearest = min(self.run_s, key=lambda count: (abs(count - threads), count))
        points = [point for point in self.points if point.threads == nearest]
        return KernelTable(
            threads=nearest,
            curves=_curves(points),
            run_s=self.run_s[nearest],
            nchwc_block=self.nchwc_block,
            cold_s=self.cold[nearest],
            cache_bytes=self.cache_bytes,
            date=self.date,
            asked=threads,
        )


class Found(NamedTuple):
    """Seconds of a kernel, and whether its sizes lie far outside of those that were timed."""

    seconds: float
    far: bool


@dataclass(frozen=True, eq=False)
class Curve:
    """Seconds of one kind over a grid of sizes."""

    axes: tuple[tuple[int, ...], ...]
    seconds: Mapping[tuple[int, ...], float]
    square: int | None = None
    places: int | None = None

    def at(self, sizes: Sequence[float]) -> Found:
        """Seconds at any sizes."""
        held, far = self._held(sizes)
        if self.places is None or (size := max(0.0, sizes[self.places])) >= (least := self.axes[self.places][0]):
            return Found(held, far)
        second = [*sizes]
        second[self.places] = self.axes[self.places][min(1, len(self.axes[self.places]) - 1)]
        step = second[self.places] - least
        slope = (self._held(second)[0] - held) / step if step else 0.0
        line = held - slope * (least - size)  # through the two smallest, but no less than in proportion
        return Found(min(held, max(held * size / least, line)), far)

    def _held(self, sizes: Sequence[float]) -> Found:
        """The same, where no size is below the smallest that was timed."""
        scale, corners, far = 1.0, [], False
        for place, (size, axis) in enumerate(zip(sizes, self.axes, strict=True)):
            power = 2 if place == self.square else 1
            held = min(max(size, axis[0]), axis[-1])
            scale *= (max(1.0, size / axis[-1])) ** power
            far = far or size > FAR * axis[-1] or size * FAR < axis[0]
            corners.append(_weights(axis, held, power))
        found = sum(
            self.seconds[tuple(size for size, _ in corner)] * _product(weight for _, weight in corner)
            for corner in product(*corners)
        )
        return Found(scale * found, far)


@dataclass(frozen=True, eq=False)
class KernelTable:
    """What was timed with one number of threads."""

    threads: int
    curves: Mapping[str, Curve]
    run_s: float
    nchwc_block: int
    cold_s: float
    cache_bytes: int
    date: str = ""
    asked: int | None = None  # threads that were asked for, of which these are the nearest

    def seconds(self, kind: str, sizes: Sequence[float]) -> Found | None:
        """Seconds of a kernel; None where its kind was not timed, or over sizes of another sort."""
        curve = self.curves.get(kind)
        if curve is None or len(curve.axes) != len(sizes):
            return None
        if kind in RUNS and sizes[1] > (longest := curve.axes[1][-1]):
            sizes = (sizes[0] * sizes[1] / longest, longest)
        return curve.at(sizes)


def _curves(points: Iterable[KernelPoint]) -> dict[str, Curve]:
    """Curves of those kinds whose grid is whole."""
    found: dict[str, dict[tuple[int, ...], float]] = {}
    for point in points:
        found.setdefault(point.kind, {})[point.sizes] = point.seconds
    curves = {}
    for kind, seconds in found.items():
        axes = tuple(tuple(sorted(set(axis))) for axis in zip(*seconds, strict=True))
        if all(corner in seconds for corner in product(*axes)):
            curves[kind] = Curve(axes, seconds, SQUARES.get(kind), PLACES.get(kind))
    return curves


def _weights(axis: Sequence[int], size: float, power: int) -> list[tuple[int, float]]:
    """The two sizes of an axis that one lies between, with the part of each."""
    for low, high in pairwise(axis):
        if low <= size < high:
            part = (size**power - low**power) / (high**power - low**power)
            return [(low, 1 - part), (high, part)] if part else [(low, 1.0)]
    return [(axis[-1], 1.0)]


def _product(factors: Iterable[float]) -> float:
    found = 1.0
    for factor in factors:
        found *= factor
    return found

"""Calibration: rates that were measured on one machine, and the device that they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf
from statistics import median
from typing import Any

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.kernel_rates import KernelRates
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.tables.figures import thread_count

VERSION = 1  # of the file that it is kept in
COPIES = ("to device", "from device")  # between the memory of the host and that of a device
NOISY = 0.1  # of a rate: where samples or repeats differ by more, the machine is said to be noisy


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One point of a curve.

    Attributes:
        what: a compute type, "bandwidth", or one of `COPIES`.
        threads: that worked at once; 1 where a GPU did the work.
        size: of a compute type, n of a product of two n x n matrices; of bandwidth, bytes of the working set; of
            copies, bytes that one moves.
        per_s: FLOP/s or bytes/s, the best of all samples.
        spread: how much longer the median sample took than the best, as a part of the best.
    """

    what: str
    threads: int
    size: int
    per_s: float
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Record):
    """What was measured on a machine.

    Attributes:
        machine: what it is: name, cores, threads, architecture; of a GPU, its name, `provider` and `host`.
        date: when, in UTC, as ISO 8601.
        versions: of what measured.
        rates: points of all curves.
        dispatch_s: seconds that a kernel of ONNX Runtime takes which does nothing.
        memory_bytes: of the machine; None where it does not tell.
        left_out: types that ONNX Runtime cannot compute here, each with the reason.
        disturbed: what was seen to make the figures too low: another program, a change of clock.
        notes: what else a reader should know.
        kernels: how long kernels took by themselves, for predictions; None where they were not timed.
    """

    machine: Mapping[str, Any]
    date: str
    versions: Mapping[str, str]
    rates: tuple[Rate, ...]
    dispatch_s: float
    memory_bytes: int | None = None
    left_out: Mapping[str, str]
    disturbed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kernels: KernelRates | None = None

    @property
    def threads(self) -> int:
        """The most threads that it was measured with."""
        return max(rate.threads for rate in self.rates)

    @property
    def provider(self) -> str:
        """By which of ONNX Runtime's providers it was measured."""
        return str(self.machine.get("provider", "cpu"))

    @property
    def types(self) -> list[str]:
        """Compute types that have a rate."""
        return list(dict.fromkeys(rate.what for rate in self.rates if rate.what not in ("bandwidth", *COPIES)))

    @property
    def copies(self) -> list[str]:
        """Directions of copies that have a rate: a GPU's alone."""
        return [what for what in COPIES if any(rate.what == what for rate in self.rates)]

    @property
    def noise(self) -> float:
        """The median spread: how far the samples of a point lie from the best of them."""
        return median(rate.spread for rate in self.rates)

    @property
    def doubts(self) -> list[str]:
        """What was seen while it was measured that makes figures too low: empty on a quiet machine."""
        noisy = [f"the machine is noisy: a median sample took {self.noise:.0%} longer than the best"]
        return [*self.disturbed, *(noisy if self.noise > NOISY else [])]

    def curve(self, what: str, threads: int) -> list[Rate]:
        """Points of one curve by size."""
        return sorted((r for r in self.rates if (r.what, r.threads) == (what, threads)), key=lambda rate: rate.size)

    def device(self, threads: int | None = None) -> Device:
        """The machine with so many threads as a device of kind "measured"; by default with all.

        A number of threads that was not measured gets that many times what one thread reaches, or what all reach if
        that is less: no fewer threads can do more.
        """
        wanted = self.threads if threads is None else min(threads, self.threads)
        peaks = {kind: self._most(kind, wanted) for kind in self.types}
        return Device(
            name=self._name(wanted),
            kind="measured",
            vendor=str(self.machine.get("vendor", "")),
            type="cpu" if self.provider == "cpu" else "gpu",
            peaks={kind: peak for kind, peak in peaks.items() if peak is not None},
            bandwidth_curve=tuple(self._bandwidths(wanted)),
            peak_curves={kind: tuple(self._points(kind, wanted)) for kind in self.types},
            dispatch_s=self.dispatch_s,
            memory_bytes=self.memory_bytes,
            source=f"measured on {self.date[:10]} with onnxruntime {self.versions.get('onnxruntime', '?')}",
            confidence="medium" if self.noise > NOISY else "high",
            notes=(*self.disturbed, *self.notes),
            kernels=None if self.kernels is None else self.kernels.table(wanted),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, from which `from_dict` makes it again."""
        said = {"disturbed": list(self.disturbed), "notes": list(self.notes)}
        lists = {"rates": [asdict(rate) for rate in self.rates], **said}
        kernels = None if self.kernels is None else self.kernels.to_dict()
        return {"version": VERSION} | asdict(replace(self, kernels=None)) | lists | {"kernels": kernels}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Calibration:
        """Read what `to_dict` wrote.

        Raises:
            ValueError: it is of another version, or no machine has such rates.
            KeyError, TypeError: it is no calibration.
        """
        if not isinstance(data, Mapping):
            raise TypeError("it is no object")
        if data.get("version") != VERSION:
            raise ValueError(f"it is of version {data.get('version')}, and {VERSION} is wanted")
        fields = {name: value for name, value in data.items() if name != "version"}
        rates = tuple(Rate(**rate) for rate in data["rates"])
        said = {name: tuple(data.get(name, ())) for name in ("disturbed", "notes")}
        timed = data.get("kernels")  # older files have none
        kernels = None if timed is None else KernelRates.from_dict(timed)
        found = cls(**{**fields, **said, "rates": rates, "kernels": kernels})
        found._check()
        return found

    def _check(self) -> None:
        """Refuse what no measurement gives. Raises ValueError, or TypeError for figures that are none."""
        counts = [count for rate in self.rates for count in (rate.threads, rate.size)]
        fits = (
            len(self.rates) > 0
            and isinstance(self.machine.get("name"), str)
            and all(isinstance(count, int) and count > 0 for count in counts)
            and all(0 < rate.per_s < inf and 0 <= rate.spread < inf for rate in self.rates)
            and 0 <= self.dispatch_s < inf
        )
        if not fits:
            raise ValueError("these are no rates of a machine")

    def _name(self, threads: int) -> str:
        name = str(self.machine["name"])
        return name if self.provider != "cpu" else f"{name} ({thread_count(threads)})"

    def _most(self, what: str, threads: int) -> float | None:
        """The best rate over sizes."""
        return max((rate for _, rate in self._points(what, threads)), default=None)

    def _points(self, what: str, threads: int) -> Iterable[tuple[int, float]]:
        one, all_ = self.curve(what, 1), self.curve(what, self.threads)
        if threads in (1, self.threads):
            return [(rate.size, rate.per_s) for rate in (one if threads == 1 else all_)]
        most = {rate.size: rate.per_s for rate in all_}
        return [(rate.size, min(threads * rate.per_s, most.get(rate.size, threads * rate.per_s))) for rate in one]

    def _bandwidths(self, threads: int) -> list[tuple[int, float]]:
        """The curve, made never to rise: a larger working set is not faster."""
        points: Sequence[tuple[int, float]] = list(self._points("bandwidth", threads))
        return [(size, max(rate for _, rate in points[place:])) for place, (size, _) in enumerate(points)]

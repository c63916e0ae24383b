"""Device: how fast a machine can compute each type and move bytes, and where those figures come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from math import log
from typing import Any, Literal

from neural_cost.analyzer.compute_type import WIDTHS, ceiling, substitution
from neural_cost.analyzer.errors import DeviceError
from neural_cost.analyzer.kernel_rates import KernelTable
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.tables.figures import plain

DeviceKind = Literal["datasheet", "measured"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Device(Record):
    """A device's peaks. What is unknown is absent; a figure of 0 is refused.

    Attributes:
        name: as in the table, or as the machine calls itself.
        kind: "datasheet" (what the vendor states, or follows from cores and clock) or "measured". Never mixed.
        vendor: who makes it.
        type: "cpu", "gpu", "tpu" or "npu".
        peaks: FLOP/s by compute type (`compute_type.WIDTHS` has the names): dense, and the hardware's highest rate at
            that type, so that a bound made of it stays one. Ask `peak`, which answers for every type.
        bandwidth_curve: (working set in bytes, bytes/s), by rising working set. A datasheet has one pair, for DRAM.
        peak_curves: by compute type, (n, FLOP/s) that a product of two n x n matrices reaches, by rising n; measured
            devices alone have them.
        dispatch_s: seconds that a kernel takes which does nothing; None where nobody measured it.
        memory_bytes: size of its memory, as stated.
        source: where the figures come from.
        confidence: "high", "medium" or "low".
        notes: what a reader of a bound must know: how an ambiguous name was resolved, what a figure leaves out.
        caveat: how a run can be faster than the peaks, a clause for the line that has the bound; empty where none can.
        kernels: how long kernels took by themselves on it; None where they were not timed. It is in no JSON.
    """

    name: str
    kind: DeviceKind
    vendor: str
    type: str
    peaks: Mapping[str, float]
    bandwidth_curve: tuple[tuple[int, float], ...] = ()
    peak_curves: Mapping[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    dispatch_s: float | None = None
    memory_bytes: int | None = None
    source: str = ""
    confidence: str = ""
    notes: tuple[str, ...] = ()
    caveat: str = ""
    kernels: KernelTable | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a figure that is no figure, and types that no work could ask for."""
        rates = [*self.peaks.values(), *(rate for _, rate in self.bandwidth_curve)]
        if any(not rate > 0 for rate in rates):
            raise DeviceError(f"device '{self.name}': a peak or bandwidth is not above 0; leave out what is unknown")
        if unknown := sorted(set(self.peaks) - set(WIDTHS)):
            raise DeviceError(f"device '{self.name}': {', '.join(unknown)} is no compute type; use {', '.join(WIDTHS)}")
        if list(self.bandwidth_curve) != sorted(self.bandwidth_curve):
            raise DeviceError(f"device '{self.name}': sort the bandwidth curve by working set")

    def peak(self, compute_type: str) -> float | None:
        """FLOP/s that arithmetic of this element type cannot exceed here; None when nothing is known, never 0.

        float32 means IEEE float32; for TensorFloat-32 ask for "tf32". See `compute_type.ceiling` for a type without
        a figure of its own.
        """
        rate = ceiling(self.peaks, compute_type)
        return None if rate is None else rate.flops

    def reached(self, compute_type: str, size: float) -> float | None:
        """FLOP/s that a product of `size` x `size` matrices was measured to reach, between sizes by their logarithm.

        Below the smallest size it is that one's. None where this type was not measured. It is what kernels reach, and
        no bound: `peak` is.
        """
        curve = self.peak_curves.get(compute_type)
        if not curve:
            return None
        for (small, slow), (large, fast) in pairwise(curve):
            if small < size < large:
                return slow + (fast - slow) * log(size / small) / log(large / small)
        return curve[0][1] if size <= curve[0][0] else next(rate for n, rate in reversed(curve) if n <= size)

    def substitution(self, compute_type: str) -> str | None:
        """What `peak` takes for a type in place of a figure of its own; None where that is its own, or unknown."""
        return substitution(self.peaks, compute_type)

    def bandwidth(self, working_set: int) -> float | None:
        """Bytes/s that a kernel which moves this many bytes cannot exceed; None when nothing is known.

        It is the highest rate measured at this working set or a larger one, and at the next smaller one: a step
        curve that never rises, so that moving more never takes less time. The only figure of a datasheet device is
        that of its DRAM, whatever the size: true when the data comes from there (a cold run), too low when a warm
        cache has it.
        """
        smaller = [size for size, _ in self.bandwidth_curve if size <= working_set]
        start = smaller[-1] if smaller else 0
        return max((rate for size, rate in self.bandwidth_curve if size >= start), default=None)

    @property
    def device_name(self) -> str:
        """The name, as `HardwareSpec` calls it."""
        return self.name

    @property
    def peak_flops(self) -> float | None:
        """FLOP/s that no float32 arithmetic exceeds; None when nothing is known. Ask `peak` for other types."""
        return self.peak("float32")

    @property
    def memory_bandwidth(self) -> float | None:
        """Bytes/s of DRAM: the figure at the largest working set; None when unknown."""
        return self.bandwidth_curve[-1][1] if self.bandwidth_curve else None

    def from_dram(self) -> Device:
        """The same device where no cache holds anything yet: all bytes come at the rate of DRAM."""
        rate = self.memory_bandwidth
        return self if rate is None else replace(self, bandwidth_curve=((0, rate),))

    @property
    def cold(self) -> bool:
        """Whether the bandwidth is that of DRAM alone, so that bounds hold for data that no cache has."""
        return self.kind == "datasheet"

    def to_dict(self) -> dict[str, Any]:
        """Every field by its name, and `memory_bandwidth`."""
        curves = {
            "bandwidth_curve": [list(point) for point in self.bandwidth_curve],
            "peak_curves": {kind: [list(point) for point in curve] for kind, curve in self.peak_curves.items()},
        }
        fields = {**asdict(replace(self, kernels=None)), "peaks": dict(self.peaks), **curves, "notes": list(self.notes)}
        del fields["kernels"]
        return {**fields, "memory_bandwidth": self.memory_bandwidth}

    def __str__(self) -> str:
        """Name, kind, peaks and bandwidth in one line."""
        peaks = ", ".join(f"{kind} {plain(rate / 1e12)}" for kind, rate in self.peaks.items())
        compute = f"{peaks} TFLOP/s" if peaks else "peaks unknown"
        rate = self.memory_bandwidth
        memory = f"{plain(rate / 1e9)} GB/s" if rate is not None else "bandwidth unknown"
        return f"{self.name} ({self.type}, {self.kind}): {compute}; {memory}"

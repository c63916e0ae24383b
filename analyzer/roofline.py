"""Roofline: the time below which a device cannot do some work.

Three bounds, in rising order, each true under its own assumption:

- floor: the whole model at once; max(FLOPs / peak, compulsory bytes / bandwidth). Perfect fusion and overlap.
- fused: the sum of that over fusion groups, whose inner tensors stay in the kernel.
- per op: the sum over nodes; each reads its inputs and writes its outputs.

Where a peak or the bandwidth is unknown, its part is left out: what remains is still a lower bound, and the record
says what is missing. On a datasheet device the bandwidth is that of DRAM, so fused and per-op hold as far as each
kernel's data comes from DRAM and goes back to it.

Source of the model: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model", CACM 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from neural_cost.analyzer.device import Device, DeviceKind
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.tables.figures import plain

LimitedBy = Literal["compute", "memory", "unknown"]


@dataclass(frozen=True, slots=True)
class Work:
    """Work of one kernel: a node, a fusion group, or a whole model.

    Attributes:
        flops_by_type: FLOPs under the element type that they run in; a MAC is 2.
        bytes_moved: traffic of one execution.
        repeats: executions; the other counts are those of one.
        padding: of the FLOPs, those with zero padding: they count, and a kernel may skip them, so no bound is made of
            them.
    """

    flops_by_type: Mapping[str, int]
    bytes_moved: int
    repeats: int = 1
    padding: Mapping[str, int] = field(default_factory=dict)

    @property
    def flops(self) -> int:
        """FLOPs of one execution, over types."""
        return sum(self.flops_by_type.values())

    @property
    def intensity(self) -> float | None:
        """FLOPs per byte; None where nothing is moved."""
        return self.flops / self.bytes_moved if self.bytes_moved else None


@dataclass(frozen=True, slots=True)
class KernelBound:
    """Lower bound of one kernel, over its repeats.

    Attributes:
        compute_s: FLOPs / peak, summed over the types whose peak is known; None when there are FLOPs and no peak.
        memory_s: bytes / bandwidth; None when there are bytes and the bandwidth is unknown.
        missing: what was left out: "peak of string", "bandwidth".
    """

    compute_s: float | None
    memory_s: float | None
    missing: tuple[str, ...] = ()

    @property
    def seconds(self) -> float | None:
        """The larger part that is known; None when neither is."""
        return max((part for part in (self.compute_s, self.memory_s) if part is not None), default=None)

    @property
    def limited_by(self) -> LimitedBy:
        """What takes longer; "unknown" where a part is missing that could be it, or where there is no work."""
        compute, memory = self.compute_s, self.memory_s
        if compute is None or memory is None or compute == memory == 0:
            return "unknown"
        if compute >= memory:
            return "compute"
        return "unknown" if self.missing else "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound(Record):
    """Lower bounds of a model's time on a device, in seconds; None where nothing that it needs is known.

    Attributes:
        device: its name.
        kind: of the device's figures, "datasheet" or "measured".
        cold: the bandwidth is DRAM's, so the bounds hold for data that no cache has.
        floor_s: the whole model at once.
        cold_floor_s: the same where no cache holds anything yet, as in a first run: every byte comes from DRAM.
        fused_s: the sum over fusion groups; None also when no groups were given.
        per_op_s: the sum over nodes.
        limited_by: what the floor is made of.
        compute_s: compute part of the floor.
        memory_s: memory part of the floor.
        intensity: FLOPs / compulsory bytes of the model.
        ridge: FLOPs / byte above which this mix of types is limited by compute; None when a part is unknown.
        missing: peaks and bandwidths that are left out.
        substituted: types bounded at another type's rate ("int64 at the rate of int8, ..."): loose, and still true.
        caveat: how a run can beat it, as a clause; empty where none can.
        notes: the device's.
    """

    device: str
    kind: DeviceKind
    cold: bool
    floor_s: float | None
    cold_floor_s: float | None
    fused_s: float | None
    per_op_s: float | None
    limited_by: LimitedBy
    compute_s: float | None
    memory_s: float | None
    intensity: float | None
    ridge: float | None
    missing: tuple[str, ...] = ()
    substituted: tuple[str, ...] = ()
    caveat: str = ""
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Every field by its name."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}

    def __str__(self) -> str:
        """The bounds and what limits the floor, in one line."""
        named = (("floor", self.floor_s), ("fused", self.fused_s), ("per op", self.per_op_s))
        parts = ", ".join(f"{name} {plain(seconds * 1e3)} ms" for name, seconds in named if seconds is not None)
        left_out = f"; left out: {', '.join(self.missing)}" if self.missing else ""
        state = "cold, " if self.cold else ""
        kind = f"{self.kind}, {self.caveat}" if self.caveat else self.kind
        instead = f"; {'; '.join(self.substituted)}" if self.substituted else ""
        limit = f"limited by {self.limited_by}{left_out}{instead}"
        return f"{self.device} ({state}{kind}): {parts or 'unknown'}; {limit}"


def kernel_bound(work: Work, device: Device) -> KernelBound:
    """Bound one kernel: FLOPs of different types take turns, arithmetic and traffic overlap.

    The bandwidth is the one at the bytes of one execution.
    """
    needed = {kind: count - work.padding.get(kind, 0) for kind, count in work.flops_by_type.items()}
    flops = {kind: count for kind, count in needed.items() if count > 0}
    peaks = {kind: device.peak(kind) for kind in flops}
    times = [flops[kind] / peak for kind, peak in peaks.items() if peak is not None]
    bandwidth = device.bandwidth(work.bytes_moved)
    memory = 0.0 if work.bytes_moved == 0 else None if bandwidth is None else work.bytes_moved / bandwidth
    missing = [f"peak of {kind}" for kind, peak in peaks.items() if peak is None]
    return KernelBound(
        compute_s=work.repeats * sum(times) if times or not flops else None,
        memory_s=None if memory is None else work.repeats * memory,
        missing=tuple(missing + ["bandwidth"] * (memory is None)),
    )


def bounds(
    nodes: Iterable[Work], compulsory_bytes: int, device: Device, fusion_groups: Iterable[Work] | None = None
) -> Bound:
    """Bound a model: its nodes, the bytes that nothing can save, and, once they are known, its fusion groups.

    `fusion_groups` has every node's work exactly once, a node outside any group being a group of its own; the bytes
    of a group are those that enter and leave it. Each bound is at least the one before it, since a lower bound under
    fewer assumptions holds under more: this matters where the bandwidth falls with the size of the working set.
    """
    nodes = list(nodes)
    whole = _whole(nodes, compulsory_bytes)
    floor = kernel_bound(whole, device)
    groups = None if fusion_groups is None else [kernel_bound(work, device) for work in fusion_groups]
    each = [kernel_bound(work, device) for work in nodes]
    fused_s = None if groups is None else _at_least(_sum(groups), floor.seconds)
    missing = [name for part in (floor, *(groups or ()), *each) for name in part.missing]
    return Bound(
        device=device.name,
        kind=device.kind,
        cold=device.cold,
        floor_s=floor.seconds,
        cold_floor_s=kernel_bound(whole, device.from_dram()).seconds,
        fused_s=fused_s,
        per_op_s=_at_least(_sum(each), floor.seconds if fused_s is None else fused_s),
        limited_by=floor.limited_by,
        compute_s=floor.compute_s,
        memory_s=floor.memory_s,
        intensity=whole.intensity,
        ridge=_mix_ridge(whole, floor, device),
        missing=tuple(dict.fromkeys(missing)),
        substituted=tuple(_substituted(whole, device)),
        caveat=device.caveat,
        notes=device.notes,
    )


def ridge_point(device: Device, compute_type: str, working_set: int = 0) -> float | None:
    """FLOPs / byte above which work of one type is limited by compute; None when the peak or bandwidth is unknown.

    `working_set` picks the bandwidth; on a datasheet device it does not matter.
    """
    peak, bandwidth = device.peak(compute_type), device.bandwidth(working_set)
    return None if peak is None or bandwidth is None else peak / bandwidth


def _whole(nodes: Iterable[Work], compulsory_bytes: int) -> Work:
    """The model as one kernel."""
    flops: dict[str, int] = {}
    padding: dict[str, int] = {}
    for work in nodes:
        for total, counts in ((flops, work.flops_by_type), (padding, work.padding)):
            for kind, count in counts.items():
                total[kind] = total.get(kind, 0) + work.repeats * count
    return Work(flops, compulsory_bytes, padding=padding)


def _substituted(whole: Work, device: Device) -> Iterator[str]:
    """Types of the work that are bounded at another type's rate, each once."""
    counted = (kind for kind, count in whole.flops_by_type.items() if count > 0)
    yield from dict.fromkeys(text for kind in counted if (text := device.substitution(kind)) is not None)


def _sum(parts: Iterable[KernelBound]) -> float | None:
    """Sum what is known; None when there are parts and nothing is known of any."""
    parts = list(parts)
    known = [part.seconds for part in parts if part.seconds is not None]
    return sum(known) if known or not parts else None


def _at_least(seconds: float | None, lower: float | None) -> float | None:
    return max((bound for bound in (seconds, lower) if bound is not None), default=None)


def _mix_ridge(work: Work, floor: KernelBound, device: Device) -> float | None:
    """Intensity at which the model's own mix of types takes as long to compute as to move."""
    bandwidth = device.bandwidth(work.bytes_moved)
    if not floor.compute_s or bandwidth is None or any(name != "bandwidth" for name in floor.missing):
        return None
    return work.flops / floor.compute_s / bandwidth

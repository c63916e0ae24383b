"""Why a run took longer than its floor: the time of its kernels laid to causes that add up to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from neural_cost.analyzer.arguments import device_of
from neural_cost.analyzer.bounding import Analyzed, report_bound
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.errors import DeviceError
from neural_cost.analyzer.gap.kernels import kernel_parts, node_shares, only_starts
from neural_cost.analyzer.gap.record import CAUSES, Cause, Gap, Parts, together
from neural_cost.analyzer.gap.timed import Timed, times_of
from neural_cost.analyzer.gap.unprofiled import Noted, unprofiled
from neural_cost.analyzer.measurement import Kernel
from neural_cost.analyzer.roofline import Bound, kernel_bound
from neural_cost.analyzer.traffic import compulsory_shares

ROUNDING = 1e-9  # of the floor


class ByKernel(Protocol):
    """A run kernel by kernel: a `Profile`."""

    @property
    def measurement(self) -> Timed:
        """Of the whole run."""

    @property
    def kernels(self) -> Sequence[Kernel]:
        """In the order in which they ran."""


def analyze_gap(
    report: Analyzed,
    measurement: Timed | ByKernel,
    device: str | Device | None = None,
    *,
    kernels: Sequence[Kernel] | None = None,
) -> Gap:
    """Split the measured time into the floor and causes that add up to it.

    The floor is that of the whole model. Each kernel has its own, of its FLOPs and its part of the compulsory bytes;
    above it lie what its other traffic takes (fusion), starting it (dispatch), what products of its size reach (size),
    and the rest (kernel). The floors of kernels one after another are more than that of all at once: that is overlap.
    Kernel times come from a run with a profile; `unprofiled` takes off what that costs. What is between kernels is
    dispatch.

    Args:
        report: of the model that ran, or an estimate of it.
        measurement: a `Profile`; with a `Measurement` or `Timing` alone, which has no kernels, the gap stays whole.
        device: whose bounds are compared with; by default that of the report.
        kernels: by default those of the profile.

    Raises:
        DeviceError: there is no device.
        OptionError: the measurement has no times, or none that can be.
    """
    on = device_of(device) or report.opened.device
    if on is None:
        raise DeviceError("a gap is between a run and what a device can do: give a device, as device='A100'.")
    whole = times_of(measurement)
    ran: Sequence[Kernel] = getattr(measurement, "kernels", ()) if kernels is None else kernels
    bound = report_bound(report, on)
    run = _Run(report, on, bound, ran, whole)
    parts = list(run.parts())
    seconds = _seconds(run, [each for _, each in parts], whole)
    floor_s = bound.floor_s or 0.0
    return Gap(
        measured_s=whole.median_s,
        floor_s=floor_s,
        limited_by=bound.limited_by,
        device=on.name,
        kind=on.kind,
        causes=tuple(Cause(cause, seconds.get(cause, 0.0)) for cause in CAUSES),
        bound_violated=whole.min_s < floor_s,
        nodes=_nodes(report, on, [*parts, *run.conversions()]),
        notes=tuple(_notes(run, bound)),
    )


@dataclass(frozen=True, eq=False)
class _Run:
    """A run whose kernels have the times of the fastest one without a profile."""

    report: Analyzed
    device: Device
    bound: Bound
    kernels: Sequence[Kernel]
    whole: Timed

    @cached_property
    def timed(self) -> list[tuple[Kernel, float]]:
        """Each kernel and its seconds."""
        noted = [self._noted(kernel) for kernel in self.kernels]
        return list(zip(self.kernels, unprofiled(noted, self.whole.min_s, self.whole.median_s), strict=True))

    @cached_property
    def between(self) -> float:
        """Seconds that no kernel took."""
        return max(0.0, self.whole.min_s - sum(time for _, time in self.timed)) if self.kernels else 0.0

    @cached_property
    def fixed_s(self) -> float:
        """Of what an empty kernel costs, what is not between kernels."""
        executions = sum(kernel.executions for kernel in self.kernels)
        return max(0.0, (self.device.dispatch_s or 0.0) - self.between / max(1, executions))

    def seconds(self, *, inserted: bool) -> float:
        """Of kernels that are inserted, or of those whose work is not known."""
        return sum(time for kernel, time in self.timed if kernel.inserted == inserted and not _is_known(kernel))

    def parts(self) -> Iterator[tuple[Sequence[int], Parts]]:
        """Nodes and the time of their kernel, with that of kernels which do a part of its work."""
        known = [(kernel, time) for kernel, time in self.timed if _is_known(kernel)]
        helped = {kernel.source_nodes for kernel, _ in known if not kernel.joined}
        added: dict[tuple[int, ...], list[tuple[float, int]]] = {}
        for kernel, time in known:
            if kernel.joined and kernel.source_nodes in helped:
                added.setdefault(kernel.source_nodes, []).append((time, kernel.executions))
        for kernel, time in known:
            if not (kernel.joined and kernel.source_nodes in helped):
                with_it = [] if kernel.joined else added.pop(kernel.source_nodes, [])
                yield kernel.source_nodes, self._parts(kernel, [(time, kernel.executions), *with_it])

    def conversions(self) -> Iterator[tuple[Sequence[int], Parts]]:
        """The time of each inserted kernel, at the nodes that it serves."""
        for kernel, time in self.timed:
            if kernel.inserted and kernel.serves and not _is_known(kernel):
                yield kernel.serves, Parts(conversion_s=time)

    def _parts(self, kernel: Kernel, ran: Sequence[tuple[float, int]]) -> Parts:
        """What ran of it is told as seconds and executions."""
        nodes = [self.report.nodes[place] for place in kernel.source_nodes]
        compulsory = 0.0 if kernel.joined else sum(self._compulsory[place] for place in kernel.source_nodes)
        return kernel_parts(
            kernel,
            nodes,
            self.device,
            seconds=sum(time for time, _ in ran),
            compulsory_s=compulsory,
            start_s=self.fixed_s * sum(executions for _, executions in ran),
        )

    def _noted(self, kernel: Kernel) -> Noted:
        starts = bool(kernel.source_nodes) and only_starts([self.report.nodes[p] for p in kernel.source_nodes])
        bound = 0.0 if kernel.work is None else kernel_bound(kernel.work, self.device).seconds or 0.0
        return Noted(kernel.seconds, kernel.executions, bound * kernel.executions, starts)

    @cached_property
    def _compulsory(self) -> list[float]:
        """Seconds of each node's part of the compulsory bytes."""
        opened = self.report.opened
        shares = compulsory_shares(opened.nodes, opened.ends.sources, opened.ends.outputs)
        whole = sum(shares)
        rate = (self.bound.memory_s or 0.0) / whole if whole else 0.0
        return [rate * share for share in shares]


def _is_known(kernel: Kernel) -> bool:
    """Whether it is known which nodes a kernel does and what they cost."""
    return kernel.mapped and not kernel.inserted and (kernel.work is not None or kernel.joined)


def _seconds(run: _Run, every: Sequence[Parts], whole: Timed) -> dict[str, float]:
    """Seconds of each cause; with the floor they are the median time."""
    bound = run.bound
    found: dict[str, float] = {}
    for each in every:
        for cause, seconds in each.causes:
            found[cause] = found.get(cause, 0.0) + seconds
    undone = _undone(bound, every)
    rest = (run.seconds(inserted=False) if run.kernels else whole.min_s) - undone
    return found | {
        "overlap": sum(each.floor_s for each in every) + undone - (bound.floor_s or 0.0),
        "conversion": run.seconds(inserted=True),
        "dispatch": found.get("dispatch", 0.0) + run.between,
        "jitter": whole.median_s - whole.min_s,
        "unexplained": max(0.0, rest),
        "left out": min(0.0, rest),
    }


def _undone(bound: Bound, parts: Sequence[Parts]) -> float:
    """Seconds of what the floor counts and none of these kernels did; what rounding leaves is nothing."""
    compute = (bound.compute_s or 0.0) - sum(each.compute_s for each in parts)
    memory = (bound.memory_s or 0.0) - sum(each.memory_s for each in parts)
    most = max(compute, memory)
    return most if most > ROUNDING * (bound.floor_s or 0.0) else 0.0


def _nodes(report: Analyzed, device: Device, parts: Sequence[tuple[Sequence[int], Parts]]) -> dict[int, Parts]:
    """Each node's part of what is of several."""
    found: dict[int, Parts] = {}
    for places, whole in parts:
        shares = node_shares([report.nodes[place] for place in places], device)
        for place, share in zip(places, shares, strict=True):
            part = whole.times(share)
            found[place] = together([part, found[place]] if place in found else [part])
    return dict(sorted(found.items()))


def _notes(run: _Run, bound: Bound) -> Iterator[str]:
    if not run.kernels:
        yield "kernels were not timed: profile() says which causes the time has"
    if bound.missing:
        yield f"not known of {run.device.name}: {', '.join(bound.missing)}; what that takes is laid to the kernels"
    if run.device.cold and run.device.bandwidth_curve:
        yield "the device's figures are a datasheet's: bandwidth is that of DRAM, which caches beat in a warm run"
    if run.kernels and not run.device.peak_curves:
        yield "what products of each size reach was not measured on it: that is laid to the kernels"

"""What findings are looked for in: a report, and the run of its model where there was one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.gap.record import Gap
from neural_cost.analyzer.kernel_work import kernel_work, needed_outside, read_outside
from neural_cost.analyzer.measurement import Kernel, Measurement
from neural_cost.analyzer.records import NodeRecord
from neural_cost.analyzer.report import Report
from neural_cost.analyzer.roofline import Bound, Work, kernel_bound
from neural_cost.analyzer.tables.figures import seconds


@dataclass(frozen=True, eq=False)
class Subject:
    """A report, and what its run took; nothing ran where `gap` is None.

    Attributes:
        kernels: of the run, empty without one.
        measurement: of the run.
    """

    report: Report
    gap: Gap | None = None
    kernels: Sequence[Kernel] = ()
    measurement: Measurement | None = None

    @property
    def nodes(self) -> Sequence[NodeRecord]:
        """Of the report."""
        return self.report.nodes

    @property
    def device(self) -> Device | None:
        """Whose bounds are taken: that of the report."""
        return self.report.opened.device

    @property
    def bound(self) -> Bound | None:
        """Of the whole model on it."""
        return next(iter(self.report.bounds), None)

    @property
    def ran(self) -> bool:
        """Whether the times are measured."""
        return self.gap is not None

    @cached_property
    def whole_s(self) -> float | None:
        """Seconds of a run, or that its nodes need at least one after another; None where nothing is known."""
        if self.gap is not None:
            return self.gap.measured_s
        return None if self.bound is None else self.bound.per_op_s

    @cached_property
    def readers(self) -> dict[str, set[int]]:
        """Places of the nodes that read each tensor; -1 is the one who asked for an output."""
        return needed_outside(self.nodes, self.report.opened.returned)

    @cached_property
    def writers(self) -> dict[str, int]:
        """The place of the node that writes each tensor."""
        return {tensor.name: place for place, node in enumerate(self.nodes) for tensor in node.outputs}

    @cached_property
    def kernel_of(self) -> dict[int, Kernel]:
        """The kernel that does each node, the one with its work."""
        return {place: kernel for kernel in self.kernels if not kernel.joined for place in kernel.source_nodes}

    def runs(self, place: int) -> bool:
        """Whether a node runs with the model, and is known to: as a kernel where there was a run."""
        node = self.nodes[place]
        if self.ran:
            return place in self.kernel_of
        return not node.constant and bool(node.repeats)

    def seconds(self, places: Iterable[int]) -> float | None:
        """What nodes took; without a run what they need at least, one by one. None where that is not known of any.

        Conversions that are inserted for them are not in it: those have a finding of their own.
        """
        found = [self._seconds(place) for place in places]
        known = [each for each in found if each is not None]
        return sum(known) if known else None

    def _seconds(self, place: int) -> float | None:
        if self.gap is not None:
            found = self.gap.nodes.get(place)
            return None if found is None else found.seconds - found.conversion_s
        node = self.nodes[place]
        return None if node.bound_s is None or node.repeats is None else node.bound_s * node.repeats

    def bound_of(self, places: Sequence[int], *, together: bool = False) -> float:
        """Seconds that nodes need at least, one by one or as one kernel; 0 for what is not known."""
        if self.device is None:
            return 0.0
        if not together:
            return sum(self.bound_of([place], together=True) for place in places)
        nodes = [self.nodes[place] for place in places]
        work = kernel_work(nodes, read_outside(nodes, set(places), self.readers))
        return 0.0 if work is None else self._bound(work, max((self.nodes[p].repeats or 0) for p in places))

    def kernel_count(self, places: Sequence[int]) -> int:
        """How many kernels nodes are; without a run as many as there are nodes."""
        return len({self.kernel_of[place].name for place in places}) if self.ran else len(places)

    def macs(self, places: Iterable[int]) -> int:
        """MACs of all their executions."""
        return sum((self.nodes[place].macs or 0) * (self.nodes[place].repeats or 0) for place in places)

    def took(self, places: Iterable[int]) -> str:
        """How long nodes took, in words; without a run, how long they need at least."""
        time = self.seconds(places)
        if time is None:
            return "take an unknown time"
        return f"{'take' if self.ran else 'need at least'} {seconds(time)}"

    def savings(self, places: Sequence[int], left_s: float = 0.0) -> float | None:
        """What nodes took less what is needed at least for the work that is left; never below 0."""
        time = self.seconds(places)
        return None if time is None else max(0.0, time - left_s)

    def matters(self, saving: float | None, share: float) -> bool:
        """Whether a saving is this much of the whole; unknown ones do where nothing is known of any time."""
        if self.whole_s is None:
            return True
        return saving is not None and saving >= share * self.whole_s > 0

    def finding(self, id_: str, places: Sequence[int], evidence: str, saves: float | None, advice: str) -> Finding:
        """A finding that says whether it is predicted."""
        return Finding(
            id=id_,
            nodes=tuple(places),
            evidence=evidence,
            saves_at_most_s=saves,
            advice=advice,
            predicted=not self.ran,
        )

    def _bound(self, work: Work, repeats: int) -> float:
        assert self.device is not None
        return repeats * (kernel_bound(work, self.device).seconds or 0.0)

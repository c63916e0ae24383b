"""A report joined to a run: kernels, what of them is mapped, the gap to the bound, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.gap.groups import module_gaps, node_gaps
from neural_cost.analyzer.gap.record import Gap, GroupGap
from neural_cost.analyzer.measurement import Kernel, Mapping, Measurement
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.report import Report
from neural_cost.analyzer.roofline import Bound
from neural_cost.analyzer.tables.html import to_html
from neural_cost.analyzer.tables.profile import profile_page
from neural_cost.analyzer.tables.text import to_text

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Profiled(Record):
    """A report, and what a run of its model took.

    Attributes:
        report: what the model costs.
        measurement: what a run took as a whole.
        kernels: in the order in which they ran.
        mapping: how much of it is known to be which nodes.
        bound: of the fusion groups that ran, on the report's device; None without one.
        gap: measured time as a floor and causes that add up to it; None without a device.
        findings: what makes it slow, the one that may save most first.
    """

    report: Report
    measurement: Measurement
    kernels: list[Kernel]
    mapping: Mapping
    bound: Bound | None
    gap: Gap | None
    findings: list[Finding]

    def to_dict(self) -> dict[str, Any]:
        """The report's JSON, with the measurement beside it; findings are those of the run."""
        found = self.report.to_dict(findings=self.findings)
        if self.bound is not None:
            found["bounds"] = [self.bound.to_dict()]
        found["totals"]["traffic_bytes"]["fused"] = self.fused_bytes
        return found | {
            "measurement": self.measurement.to_dict(),
            "kernels": [kernel.to_dict() for kernel in self.kernels],
            "mapping": self.mapping.to_dict(),
            **({} if self.gap is None else {"gap": self.gap.to_dict()}),
        }

    @property
    def fused_bytes(self) -> int | None:
        """Bytes that the kernels must move that do nodes of the file; None where one is not known."""
        known = [kernel.bytes for kernel in self.kernels if kernel.mapped and not kernel.joined]
        if None in known or not self.kernels or self.mapping.unmapped_share:
            return None
        return sum(bytes_ for bytes_ in known if bytes_ is not None)

    def node_gaps(self) -> list[GroupGap]:
        """The gap of each node that ran, the slowest first; empty without a device."""
        return [] if self.gap is None else node_gaps(self.report, self.gap)

    def module_gaps(self, depth: int | None = None) -> list[GroupGap]:
        """The gap of each module, innermost or at a depth, the slowest first; empty without a device."""
        return [] if self.gap is None else module_gaps(self.report, self.gap, depth)

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each kernel, in pandas, which must be installed."""
        import pandas as pd

        return pd.DataFrame([kernel.to_dict() for kernel in self.kernels])

    def __str__(self) -> str:
        """The table that the command shows."""
        return to_text(profile_page(self))

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        return to_html(profile_page(self))

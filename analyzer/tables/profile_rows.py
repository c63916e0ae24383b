"""Rows of a profile: kernels, nodes, modules, causes or findings. A figure that is not known is None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.gap.record import CAUSES, GroupGap
from neural_cost.analyzer.measurement import Kernel
from neural_cost.analyzer.tables.view import ProfileBy

if TYPE_CHECKING:
    from neural_cost.analyzer.profiled import Profiled
    from neural_cost.analyzer.report import Report

KERNEL = (
    "name", "op_type", "graph", "nodes", "seconds", "share", "executions", "macs", "flops", "bytes", "flops_per_s",
    "bytes_per_s", "bound_s", "efficiency", "inserted", "serves",
)  # fmt: skip
GROUP = ("name", "nodes", "seconds", "floor_s", *CAUSES)
COLUMNS = {
    ProfileBy.KERNEL: KERNEL,
    ProfileBy.NODE: GROUP,
    ProfileBy.MODULE: GROUP,
    ProfileBy.CAUSE: ("cause", "seconds", "share", "fault"),
    ProfileBy.FINDING: ("id", "saves_at_most_s", "evidence", "advice", "nodes"),
}


def profile_rows(found: Profiled, by: ProfileBy, depth: int | None = None) -> list[dict[str, Any]]:
    """The rows of a view: kernels, nodes and modules by time, causes in their order, findings by what they may save.

    Those of the gap are empty without a device.
    """
    match by:
        case ProfileBy.KERNEL:
            return kernel_rows(found.report, found.kernels)
        case ProfileBy.NODE:
            return [_group(group) for group in found.node_gaps()]
        case ProfileBy.MODULE:
            return [_group(group) for group in found.module_gaps(depth)]
        case ProfileBy.CAUSE:
            return _causes(found)
        case ProfileBy.FINDING:
            return [finding.to_dict() | {"nodes": _names(found, finding.nodes)} for finding in found.findings]


def kernel_rows(report: Report, kernels: Sequence[Kernel]) -> list[dict[str, Any]]:
    """A row for each kernel, the slowest first; figures are those of all its executions in one run."""
    whole = sum(kernel.seconds for kernel in kernels)
    return [
        {
            **kernel.to_dict(),
            "nodes": " + ".join(report.nodes[place].label for place in kernel.source_nodes),
            "serves": " + ".join(report.nodes[place].label for place in kernel.serves),
            "share": kernel.seconds / whole if whole else None,
        }
        for kernel in sorted(kernels, key=lambda kernel: -kernel.seconds)
    ]


def _group(group: GroupGap) -> dict[str, Any]:
    seconds = {cause.cause: cause.seconds for cause in group.causes}
    return {
        "name": group.name,
        "nodes": len(group.places),
        "seconds": group.seconds,
        "floor_s": group.floor_s,
        **{cause: seconds.get(cause, 0.0) for cause in CAUSES},
    }


def _causes(found: Profiled) -> list[dict[str, Any]]:
    gap = found.gap
    if gap is None:
        return []
    floor = {"cause": "floor", "seconds": gap.floor_s, "fault": False}
    return [each | {"share": each["seconds"] / gap.measured_s} for each in (floor, *(c.to_dict() for c in gap.causes))]


def _names(found: Profiled, places: Sequence[int]) -> str:
    return " ".join(found.report.nodes[place].label for place in places)

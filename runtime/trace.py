"""A trace of a run for Perfetto or Chrome's tracing page: kernels under the names of the file, with their costs."""

from __future__ import annotations

from typing import Any

from neural_cost.analyzer.measurement import Kernel
from neural_cost.runtime.profile import Profile
from neural_cost.runtime.profile_events import SUFFIX


def chrome_trace(profile: Profile) -> dict[str, Any]:
    """Events of the last run of a profile, in the Trace Event Format."""
    kernels = {kernel.name: kernel for kernel in profile.kernels}
    start = min((event["ts"] for event in profile.events), default=0)
    events = []
    for event in profile.events:
        kernel = kernels.get(event["name"].removesuffix(SUFFIX))
        if kernel is not None:
            place = {"ph": "X", "ts": event["ts"] - start, "dur": event["dur"], "pid": 1, "tid": event["tid"]}
            events.append(
                place | {"name": _name(profile, kernel), "cat": _category(kernel), "args": _costs(profile, kernel)}
            )
    names = {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": profile.report.model.path}}
    return {"traceEvents": [names, *events], "displayTimeUnit": "ms"}


def _name(profile: Profile, kernel: Kernel) -> str:
    nodes = [profile.report.nodes[place].name for place in kernel.source_nodes]
    return " + ".join(nodes) or f"({kernel.op_type})"


def _category(kernel: Kernel) -> str:
    return "inserted" if kernel.inserted else "kernel" if kernel.mapped else "not mapped"


def _costs(profile: Profile, kernel: Kernel) -> dict[str, Any]:
    """Figures of one execution."""
    work = kernel.work
    each = max(kernel.executions, 1)
    nodes = [profile.report.nodes[place] for place in kernel.source_nodes or kernel.serves]
    return {
        "kernel": kernel.operator,
        "operators": [node.op_type for node in nodes],
        "serves": [profile.report.nodes[place].name for place in kernel.serves],
        "scope": next((node.scope for node in nodes if node.scope), ""),
        "macs": None if kernel.macs is None else kernel.macs // each,
        "flops": None if work is None else work.flops,
        "bytes": None if work is None else work.bytes_moved,
        "bound_us": None if kernel.bound_s is None else kernel.bound_s / each * 1e6,
    }

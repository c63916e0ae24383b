"""A profile as blocks: how long a run took, against the bound; the kernels, and what of them is mapped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.measurement import Kernel, Mapping, Measurement
from neural_cost.analyzer.roofline import Bound
from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import UNKNOWN, count, seconds, share, size, thread_count
from neural_cost.analyzer.tables.findings import SHOWN as SHOWN_FINDINGS
from neural_cost.analyzer.tables.findings import findings_blocks
from neural_cost.analyzer.tables.gap import gap_blocks, group_grid
from neural_cost.analyzer.tables.profile_rows import kernel_rows
from neural_cost.analyzer.tables.summary import SHOWN_ROWS, bound_lines, head
from neural_cost.analyzer.tables.view import ProfileBy

if TYPE_CHECKING:
    from neural_cost.analyzer.profiled import Profiled
    from neural_cost.analyzer.report import Report


def profile_page(
    found: Profiled,
    top: int | None = None,
    *,
    by: ProfileBy = ProfileBy.KERNEL,
    depth: int | None = None,
    quiet: bool = False,
) -> list[Block]:
    """All that a table shows of a profile; `quiet` leaves out the rows, and what to do about findings."""
    report, measurement, kernels, bound = found.report, found.measurement, found.kernels, found.bound
    rows = [] if quiet else _rows(found, by, depth, top or SHOWN_ROWS)
    return [
        *head(report.model),
        _whole(report, measurement, bound),
        *_bound(measurement, bound),
        *rows,
        Paragraph(""),
        *_mapped(found.mapping, kernels),
        *([] if found.gap is None else gap_blocks(found.gap)),
        *findings_blocks(report, found.findings, measurement.median_s, top=_findings(by, top), quiet=quiet),
        *(Paragraph(note, "warning") for note in measurement.notes),
    ]


def _findings(by: ProfileBy, top: int | None) -> int:
    return top if by is ProfileBy.FINDING and top is not None else SHOWN_FINDINGS


def _rows(found: Profiled, by: ProfileBy, depth: int | None, top: int) -> list[Block]:
    match by:
        case ProfileBy.NODE:
            return [group_grid("Nodes by time", found.node_gaps(), top)]
        case ProfileBy.MODULE:
            return [group_grid("Modules by time", found.module_gaps(depth), top)]
        case ProfileBy.KERNEL:
            return [_kernels(found.report, found.kernels, top)]
    return []  # causes and findings are in every table


def _whole(report: Report, measurement: Measurement, bound: Bound | None) -> Grid:
    low, high = map(seconds, measurement.ci_s)
    where = f"{measurement.backend} {measurement.version}, {measurement.provider}, {_threads(measurement)}"
    lines = [
        ("Time of a run", seconds(measurement.median_s), f"median, 95% of {low} to {high}; {where}"),
        ("  fastest", seconds(measurement.min_s), f"of {measurement.samples:,}; stopped by {measurement.stopped_by}"),
        ("  in kernels", seconds(measurement.kernels_s), "by a second session, with a profile"),
        ("  profiled", seconds(measurement.profiled_s), f"a profile adds {measurement.profiling_overhead:.0%}"),
        ("Loading", seconds(measurement.session_s), f"graph rewritten at level {measurement.level}"),
        *_reached(report, measurement, bound),
        *_memory(report, measurement),
    ]
    return Grid("", [Heading("", "name"), Heading(""), Heading("", "remark")], lines, headed=False)


def _threads(measurement: Measurement) -> str:
    if measurement.threads is None:
        return "its own number of threads"
    return thread_count(measurement.threads)


def _reached(report: Report, measurement: Measurement, bound: Bound | None) -> list[tuple[str, str, str]]:
    rate = report.totals.flops / measurement.median_s
    least = "" if report.totals.complete else ">= "
    figure = count(round(rate))  # with its prefix, as in "1.50 M", or without one
    lines = [("Reached", f"{least}{figure}{'' if figure[-1].isalpha() else ' '}FLOP/s", "")]
    if bound is not None and bound.floor_s is not None:
        lines[0] = (*lines[0][:2], f"{bound.floor_s / measurement.min_s:.1%} of what {bound.device} can do at best")
    return lines


def _memory(report: Report, measurement: Measurement) -> list[tuple[str, str, str]]:
    if measurement.peak_bytes is None:
        return []
    low, high = report.memory.peak_lower_bytes, report.memory.peak_upper_bytes
    static = UNKNOWN if low is None else f"{size(low)} to {size(high)}"
    return [("Activations asked for", size(measurement.peak_bytes), f"in the first run; the analysis says {static}")]


def _bound(measurement: Measurement, bound: Bound | None) -> list[Block]:
    if bound is None:
        return []
    lines = bound_lines(bound, bound.notes)
    if bound.floor_s is not None and measurement.min_s < bound.floor_s:
        text = "bound violated: it ran faster than the floor, so the device's figures are too low"
        lines.append(Paragraph(text, "alarm"))
    return lines


def _kernels(report: Report, kernels: Sequence[Kernel], top: int) -> Grid:
    rows = kernel_rows(report, kernels)
    shown = rows[:top]
    of = "" if len(shown) == len(rows) else f", {len(shown)} of {len(rows)}"
    repeated = any(row["executions"] != 1 for row in shown)
    bounded = any(row["bound_s"] is not None for row in shown)
    headings = [
        Heading("nodes of the file", "name"),
        Heading("kernel", "name", drop=3),
        *([Heading("runs", drop=2)] if repeated else []),
        Heading("time"),
        Heading("of kernels"),
        Heading("FLOP/s"),
        Heading("B/s", drop=4),
        *([Heading("bound", drop=1), Heading("of bound")] if bounded else []),
    ]
    lines = [
        [
            _what(row),
            row["op_type"],
            *([f"{row['executions']:,}"] if repeated else []),
            seconds(row["seconds"]),
            share(row["share"], 1.0),
            _rate(row["flops_per_s"]),
            _rate(row["bytes_per_s"]),
            *([_or_dash(row["bound_s"], seconds), _or_dash(row["efficiency"], "{:.1%}".format)] if bounded else []),
        ]
        for row in shown
    ]
    alarms = [place for place, row in enumerate(shown) if (row["efficiency"] or 0) > 1]
    return Grid(f"Kernels by time{of}", headings, lines, alarms=alarms)


def _what(row: dict[str, Any]) -> str:
    if row["nodes"]:
        return str(row["nodes"])
    if row["inserted"]:
        return f"(inserted for {row['serves']})" if row["serves"] else "(inserted)"
    return "(not known)"


def _rate(value: float | None) -> str:
    return "-" if not value else count(round(value))


def _or_dash(value: float | None, shown: Any) -> str:
    return "-" if value is None else str(shown(value))


def _mapped(mapping: Mapping, kernels: Sequence[Kernel]) -> list[Block]:
    macs = UNKNOWN if mapping.mac_share is None else f"{mapping.mac_share:.1%}"
    inserted = sum(kernel.inserted for kernel in kernels)
    line = (
        f"Mapped to nodes of the file: {share(mapping.time_share, 1.0)} of kernel time, {macs} of MACs; "
        f"{share(mapping.inserted_share, 1.0)} of kernel time is layout and type conversion that "
        f"{inserted} kernels do and the file does not ask for"
    )
    if any(kernel.serves for kernel in kernels):
        line += f"; with those that serve known nodes, {share(mapping.attributed_share, 1.0)} is laid to nodes"
    unknown = mapping.unmapped_share
    more = [Paragraph(f"Not mapped: {unknown:.1%} of kernel time", "warning")] if unknown else []
    return [Paragraph(line), *more]

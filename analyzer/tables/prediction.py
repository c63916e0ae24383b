"""A prediction as blocks: the time, how far to trust it, and the kernels that will take most of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import seconds, share

if TYPE_CHECKING:
    from neural_cost.analyzer.prediction.record import PredictedKernel, Prediction
    from neural_cost.analyzer.records import NodeRecord

SHOWN = 10
COLUMNS = ("kernel", "nodes", "seconds", "share", "how", "kinds")
INSERTED = "inserted by the runtime"


def prediction(
    found: Prediction, nodes: Sequence[NodeRecord], top: int | None = None, *, quiet: bool = False
) -> list[Block]:
    """All that a table shows of a prediction."""
    parts: list[Block] = [Paragraph(""), Paragraph(_head(found), "title" if found.complete else "alarm")]
    if not quiet:
        parts += [Paragraph(f"  {_what_it_is(found)}", "quiet"), _kernels(found, nodes, top or SHOWN)]
    return [*parts, *(Paragraph(f"  {note}", "warning") for note in found.notes)]


def _head(found: Prediction) -> str:
    least = "" if found.complete else ">= "
    error = "" if found.expected_error is None else f", expected error {found.expected_error:.0%}"
    threads = "1 thread" if found.threads == 1 else f"{found.threads} threads"
    return f"Predicted on {found.device}, {threads}: {least}{seconds(found.seconds)} a run{error}; nothing ran"


def _what_it_is(found: Prediction) -> str:
    parts = [f"kernels {seconds(found.seconds - found.start_s - found.cold_s)}"]
    if found.inserted_s:
        parts.append(f"of them reorders that the runtime inserts {seconds(found.inserted_s)}")
    parts.append(f"start of a run {seconds(found.start_s)}")
    if found.cold_s:
        parts.append(f"weights that the caches cannot hold {seconds(found.cold_s)}")
    return f"{', '.join(parts)}; kernels timed on {found.date[:10]}"


def _kernels(found: Prediction, nodes: Sequence[NodeRecord], top: int) -> Grid:
    rows = prediction_rows(found, nodes)
    shown = rows[:top]
    of = "" if len(shown) == len(rows) else f", {len(shown)} of {len(rows)}"
    headings = [
        Heading("kernel", "name"), Heading("nodes", "name"), Heading("predicted"), Heading("of all"),
        Heading("from", "remark", drop=1),
    ]  # fmt: skip
    lines = [
        [row["kernel"], row["nodes"], seconds(row["seconds"]), share(row["seconds"], found.seconds), _from(row)]
        for row in shown
    ]
    return Grid(f"Kernels by predicted time{of}", headings, lines)


def _from(row: dict[str, Any]) -> str:
    kinds = ", ".join(row["kinds"].split(";"))
    return {"timed": kinds, "far": f"{kinds}, sizes far from those timed"}.get(row["how"], f"like {kinds}")


def prediction_rows(found: Prediction, nodes: Sequence[NodeRecord]) -> list[dict[str, Any]]:
    """A row for each kernel, the slowest first; those of unknown time stand before all."""
    ranked = sorted(found.kernels, key=lambda kernel: -(float("inf") if kernel.seconds is None else kernel.seconds))
    return [_row(kernel, nodes, found.seconds) for kernel in ranked]


def _row(kernel: PredictedKernel, nodes: Sequence[NodeRecord], whole: float) -> dict[str, Any]:
    return {
        "kernel": kernel.op_type,
        "nodes": ", ".join(nodes[place].label for place in kernel.source_nodes) or INSERTED,
        "seconds": kernel.seconds,
        "share": None if kernel.seconds is None or not whole else kernel.seconds / whole,
        "how": kernel.how,
        "kinds": ";".join(dict.fromkeys(kernel.kinds)),
    }

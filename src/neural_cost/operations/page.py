"""An estimate of operations as blocks: its totals, a line for each operation, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import count, plain, size

if TYPE_CHECKING:
    from neural_cost.analyzer.records import NodeRecord
    from neural_cost.estimates import Estimate
    from neural_cost.operations.record import Operation


def estimate_page(found: Estimate) -> list[Block]:
    """All that a table shows of operations."""
    title = Paragraph(f"{len(found.operations)} operation{'' if len(found.operations) == 1 else 's'}", "title")
    left_out = [Paragraph(text, "warning") for text in _left_out(found.nodes)]
    notes = [Paragraph(note, "quiet") for note in found.notes]
    return [title, _totals(found), _operations(found.operations, found.nodes), Paragraph(""), *left_out, *notes]


def _totals(found: Estimate) -> Grid:
    totals, least = found.totals, not found.complete
    intensity = "unknown" if least or found.intensity is None else f"{plain(found.intensity)} FLOPs per byte"
    lines = [
        ("MACs", count(totals.macs, least=least), ""),
        ("FLOPs", count(totals.flops, least=least), f"{count(totals.special_ops)} of them transcendental"),
        ("Parameters", f"{totals.parameters:,}", size(totals.parameter_bytes)),
        ("Read", size(found.read_bytes, least=least), "each operation its inputs"),
        ("Written", size(found.write_bytes, least=least), "each operation its output"),
        ("Traffic, compulsory", size(totals.compulsory_bytes), "perfectly fused"),
        ("Intensity", intensity, "of what is read and written"),
    ]
    return Grid("", [Heading("", "name"), Heading(""), Heading("", "remark")], lines, headed=False)


def _operations(operations: Sequence[Operation], nodes: Sequence[NodeRecord]) -> Grid:
    headings = [
        Heading("operation", "name"),
        Heading("kind", "name"),
        Heading("costed as", "name", drop=1),
        Heading("runs", drop=2),
        Heading("MACs"),
        Heading("FLOPs"),
        Heading("read"),
        Heading("written"),
        Heading("params"),
    ]
    lines = [
        [
            node.name,
            operation.kind,
            node.op_type,
            "unknown" if node.repeats is None else f"{node.repeats:,}",
            count(node.macs),
            count(node.flops),
            size(node.read_bytes),
            size(node.write_bytes),
            f"{node.parameters:,}",
        ]
        for operation, node in zip(operations, nodes, strict=True)
    ]
    return Grid("Operations, figures of one execution", headings, lines)


def _left_out(nodes: Sequence[NodeRecord]) -> Iterator[str]:
    for node in nodes:
        if node.macs is None:
            yield f"left out: {node.name}: {node.why}"
        elif node.repeats is None:
            yield f"left out: {node.name}: it is not known how often it runs"

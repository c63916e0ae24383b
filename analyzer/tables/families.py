"""Families in several frameworks as blocks: the fastest native backend of each beside ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neural_cost.analyzer.comparison import Comparison
from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.comparison import or_dash
from neural_cost.analyzer.tables.figures import seconds, thread_count


def families_page(rows: Sequence[Mapping[str, Any]], found: Sequence[Comparison]) -> list[Block]:
    """A line for each family and framework, those that failed among them; `found` are the comparisons that ran."""
    headings = [
        Heading("family", "name"),
        Heading("framework", "name"),
        Heading("fastest native", "name"),
        Heading("native"),
        Heading("ONNX Runtime"),
        Heading("/ native"),
        Heading("95% interval"),
        Heading("", "name", drop=1),
        Heading("differs by", drop=2),
    ]
    failed = [f"{row['family']} in {row['framework']}: {row['error']}" for row in rows if row["error"]]
    return [
        *(_head(found) if found else []),
        Grid("", headings, [_line(row) for row in rows]),
        *(Paragraph(each, "warning") for each in failed),
    ]


def _head(found: Sequence[Comparison]) -> list[Block]:
    """Sizes, machine, date and versions."""
    first = found[0]
    versions = {name: version for each in found for name, version in each.versions.items()}
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    sizes = ", ".join(f"{name} = {size}" for name, size in first.dims.items())
    title = f"Families at {sizes}, {thread_count(first.threads)} on {first.machine}, {first.date[:10]}"
    return [Paragraph(title, "title"), Paragraph(told, "quiet")]


def _line(row: Mapping[str, Any]) -> list[str]:
    return [
        row["family"],
        row["framework"],
        row["native"] or "-",
        or_dash(row["native_s"], seconds),
        or_dash(row["onnxruntime_s"], seconds),
        or_dash(row["ratio"], "{:.2f}".format),
        "-" if row["ratio_low"] is None else f"{row['ratio_low']:.2f} to {row['ratio_high']:.2f}",
        row["verdict"],
        or_dash(row["max_abs_diff"], "{:.0e}".format),
    ]

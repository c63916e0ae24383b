"""Formulas and tokens of a report as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import count, size
from neural_cost.analyzer.tables.rows import ranker
from neural_cost.analyzer.tables.view import Column, View

if TYPE_CHECKING:
    from neural_cost.analyzer.conditions import Range
    from neural_cost.analyzer.expressions import Formula
    from neural_cost.analyzer.formulas import Formulas, Growth
    from neural_cost.analyzer.records import NodeRecord
    from neural_cost.analyzer.report import Report
    from neural_cost.analyzer.tokens import Tokens

TITLES = {
    "macs": "MACs",
    "flops": "FLOPs",
    "other_flops": "  other",
    "special_ops": "  transcendental",
    "per_op_bytes": "Bytes moved, per op",
    "compulsory_bytes": "Bytes moved, compulsory",
    "activation_peak_bytes": "Activation peak, bytes",
}
SHOWN_NODES = 10


def symbolic(report: Report, view: View) -> list[Block]:
    """Totals, growth and the heaviest nodes as formulas, and where they hold."""
    if not report.opened.names:
        return [Paragraph(""), Paragraph("Formulas: no dimension is open, so every count is a number.")]
    found = report.formulas
    named = [name for name in TITLES if name in found.totals]
    lines = [(TITLES[name], str(found.totals[name])) for name in named]
    lines.append(("Parameters", f"{found.parameters:,}"))
    lines += [(f"{TITLES[name]}, a token", str(each)) for name, each in report.per_token.items()]
    parts: list[Block] = [
        Paragraph(""),
        Grid(
            f"Formulas in {', '.join(found.names)}", [Heading("", "name"), Heading("", "remark")], lines, headed=False
        ),
        *_missing(found),
        *[line for name, each in report.ranges.items() for line in _range(name, each)],
        Paragraph(""),
    ]
    growth = [_growth(each) for each in found.growth]
    columns = ("MACs", "bytes moved", "activations")
    headings = [Heading("How it grows with", "name"), *map(Heading, columns), Heading("", "remark")]
    return [*parts, *([Grid("", headings, growth)] if growth else []), *_nodes(report, view)]


def tokens(found: Tokens) -> list[Block]:
    """What the call means in tokens, in one line each."""
    calls = f"{found.batch} x {found.tokens:,} tokens"
    lines = [("This call", calls, "" if found.past_dim is None else f"context {found.context:,}")]
    if found.macs_per_token is not None and found.flops_per_token is not None:
        weights = count(round(found.weight_flops_per_token or 0))
        per_token = count(round(found.flops_per_token))
        lines.append(("  per token", f"{per_token} FLOPs", f"{weights} of them with weights"))
    if found.cache_bytes_per_token is not None:
        lines.append(("  cache", size(found.cache_bytes), f"{size(found.cache_bytes_per_token)} a token"))
    for name, call in (("Prefill", found.prefill), ("Decode", found.decode)):
        if call is not None:
            what = (
                f"{found.context:,} tokens at once" if name == "Prefill" else f"one token after {found.context - 1:,}"
            )
            lines.append((name, f"{count(call.flops)} FLOPs", f"{size(call.per_op_bytes)} moved; {what}"))
    if found.why and found.cache_bytes is not None:
        lines.append(("Prefill, decode", "unknown", found.why))
    return [Grid("", [Heading("", "name"), Heading(""), Heading("", "remark")], lines, headed=False)]


def _missing(found: Formulas) -> list[Block]:
    if not found.why:
        return []
    what = "Not every total has a formula" if found.totals else "No totals as formulas"
    return [Paragraph(f"{what}: {found.why}", "warning")]


def _range(name: str, found: Range) -> list[Paragraph]:
    """Nothing for a dimension that can have any size."""
    lines = []
    if found.below:
        lines.append(f"Holds for {name} from {found.least:,}: below, {found.below}")
    if found.above:
        lines.append(f"Holds for {name} up to {found.most:,}: above, {found.above}")
    if found.gap:
        lines.append(f"Holds not for every {name}: at {found.gap}")
    return [Paragraph(line, "warning") for line in lines]


def _growth(each: Growth) -> list[str]:
    crossing = each.quadratic_from
    remark = "" if crossing is None else f"the quadratic term is the larger from {each.dim} = {crossing:,}"
    powers = (each.macs, each.traffic_bytes, each.activation_peak_bytes)
    return [each.dim, *map(_power, powers), remark]


def _power(power: int | None) -> str:
    names = {None: "unknown", 0: "constant", 1: "linear", 2: "quadratic", 3: "cubic"}
    return names.get(power, f"power {power}")


def _nodes(report: Report, view: View) -> list[Block]:
    """The heaviest nodes, with formulas in the place of figures."""
    pairs: Iterable[tuple[NodeRecord, Mapping[str, Formula] | None]] = zip(
        report.nodes, report.formulas.nodes, strict=True
    )
    if view.sort is not Column.INDEX:
        rank = ranker(view.sort)
        pairs = sorted(pairs, key=lambda pair: rank(pair[0]))
    lines = []
    for node, found in islice(pairs, view.top or SHOWN_NODES):
        texts = ("unknown", "unknown") if found is None else (str(found["macs"]), str(found["other_flops"]))
        lines.append([node.name, node.operator, *texts])
    headings = [
        Heading("node", "name"),
        Heading("operator", "name"),
        Heading("MACs", "remark"),
        Heading("other FLOPs", "remark"),
    ]
    return [
        Paragraph(""),
        Grid(f"Nodes by {view.sort} as formulas, {len(lines)} of {len(report.nodes)}", headings, lines),
    ]

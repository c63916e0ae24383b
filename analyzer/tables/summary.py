"""A report as blocks: model, what was assumed, totals, bounds, the chosen rows, and what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.cost import FLOPS_PER_MAC
from neural_cost.analyzer.roofline import Bound
from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import count, seconds, share, size
from neural_cost.analyzer.tables.rows import Row, rows, times
from neural_cost.analyzer.tables.symbolic import symbolic, tokens
from neural_cost.analyzer.tables.view import By, View

if TYPE_CHECKING:
    from neural_cost.analyzer.records import ModelInfo, Totals
    from neural_cost.analyzer.report import Report

SHOWN_ROWS = 10
SHOWN_FINDINGS = 3
SHOWN_SHAPES = 10
TITLES = {By.NODE: "Nodes", By.OP: "Operators", By.MODULE: "Modules", By.FUNCTION: "Functions", By.CALL: "Calls"}
NAMES = {By.NODE: "node", By.OP: "operator", By.MODULE: "module", By.FUNCTION: "function", By.CALL: "call"}


def summary(report: Report, view: View) -> list[Block]:
    """All that a table shows of a report."""
    parts: list[Block] = [*head(report.model), _totals(report.totals)]
    if (found := report.tokens) is not None:
        parts += tokens(found)
    parts += [part for bound in report.bounds for part in bound_lines(bound, () if view.quiet else bound.notes)]
    if not view.quiet:
        shown = [view.by] if view.by else [By.NODE, By.OP]
        parts += (
            []
            if view.symbolic or view.memory or view.training or view.predict
            else [_rows(report, by, view) for by in shown]
        )
    parts += symbolic(report, view) if view.symbolic else []
    parts += _memory(report, view) if view.memory else []
    parts += _training(report, view)
    parts += _prediction(report, view)
    notes = [Paragraph(note) for note in report.notes]
    return [*parts, *_findings(report, view), Paragraph(""), *_coverage(report, verbose=view.verbose), *notes]


def _findings(report: Report, view: View) -> list[Block]:
    """What is slow, where a table shows rows of nodes or operators."""
    from neural_cost.analyzer.tables.findings import findings_blocks

    if view.quiet or view.symbolic or view.memory or view.training or view.predict or view.by:
        return []
    whole = next((bound.per_op_s for bound in report.bounds), None)
    return findings_blocks(report, report.findings, whole, top=view.top or SHOWN_FINDINGS, quiet=not view.verbose)


def _memory(report: Report, view: View) -> list[Block]:
    from neural_cost.analyzer.tables.memory import memory

    best = report.best_order() if view.best_order else None
    return memory(report.memory, best, report.fits())


def _training(report: Report, view: View) -> list[Block]:
    from neural_cost.analyzer.tables.training import training

    if view.training is None:
        return []
    return training(report.training(view.training), view.top, quiet=view.quiet, symbolic=view.symbolic)


def _prediction(report: Report, view: View) -> list[Block]:
    from neural_cost.analyzer.tables.prediction import prediction

    return prediction(report.prediction, report.nodes, view.top, quiet=view.quiet) if view.predict else []


def head(model: ModelInfo) -> list[Block]:
    """The model, and the sizes that its figures are for."""
    opsets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in model.opsets.items())
    lines = [Paragraph(f"{model.path}: {model.nodes} nodes, opset {opsets}", "title")]
    if model.assumed_dims:
        taken = ", ".join(f"{name} = {model.dims.get(name, 1)}" for name in model.assumed_dims)
        lines.append(Paragraph(f"Assumed, as nobody gave it: {taken}; set it by --dim NAME=SIZE", "warning"))
    if given := [f"{name} = {size}" for name, size in model.dims.items() if name not in model.assumed_dims]:
        lines.append(Paragraph(f"Given: {', '.join(given)}"))
    for false in model.false_shapes:
        said = f'"{false.tensor}" is declared {_dims(false.declared)} and inferred {_dims(false.inferred)}'
        lines.append(Paragraph(f"False shape, not trusted: {said}", "warning"))
    return list(lines)


def _dims(shape: Sequence[Any]) -> str:
    return "x".join(map(str, shape))


def _totals(totals: Totals) -> Grid:
    least = not totals.complete
    quantizing = totals.flops_by_kind.get("quantization")
    lines = [
        ("MACs", count(totals.macs, least=least), _types(totals.macs_by_type)),
        ("FLOPs", count(totals.flops, least=least), _types(totals.flops_by_type)),
        (f"  {FLOPS_PER_MAC} x MACs", count(FLOPS_PER_MAC * totals.macs, least=least), ""),
        ("  other", count(totals.other_flops, least=least), f"{count(totals.special_ops)} transcendental"),
        *([("  to quantize", count(quantizing), "quantizing and dequantizing, part of other")] if quantizing else []),
        (
            "Parameters",
            f"{'>= ' if least else ''}{totals.parameters:,}",
            size(totals.parameter_bytes, least=least),
        ),
        ("Traffic, per op", size(totals.per_op_bytes, least=least), "each node reads its inputs, writes its outputs"),
        *_fused(totals, least=least),
        ("Traffic, compulsory", size(totals.compulsory_bytes, least=least), "constants, inputs and outputs once"),
        ("Activation peak", size(totals.activation_peak_bytes), "alive at once, weights apart"),
        *([("INCOMPLETE", "", "what coverage lists is left out")] if least else []),
    ]
    headings = [Heading("", "name"), Heading(""), Heading("", "remark")]
    return Grid("", headings, lines, headed=False, alarms=[len(lines) - 1] if least else [])


def _fused(totals: Totals, *, least: bool) -> list[tuple[str, str, str]]:
    if totals.fused_bytes is None:
        return []
    return [("Traffic, fused", size(totals.fused_bytes, least=least), "the same where ONNX Runtime may fuse nodes")]


def _types(by_type: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count(value)}" for kind, value in by_type.items())


def bound_lines(bound: Bound, notes: Sequence[str]) -> list[Block]:
    """What a device cannot beat, where that comes from, and what makes it doubtful."""
    cold = (("floor from cold caches", bound.cold_floor_s),) if bound.cold_floor_s != bound.floor_s else ()
    named = (("floor", bound.floor_s), ("fused", bound.fused_s), ("per op", bound.per_op_s), *cold)
    found = ", ".join(f"{name} {seconds(value)}" for name, value in named)
    missing = f"; left out: {', '.join(bound.missing)}" if bound.missing else ""
    kind = f"{bound.kind}, {bound.caveat}" if bound.caveat else bound.kind
    head = f"No faster on {bound.device} ({kind}) than: {found}; limited by {bound.limited_by}{missing}"
    return [Paragraph(head), *(Paragraph(f"  {note}", "quiet") for note in (*bound.substituted, *notes))]


def _rows(report: Report, by: By, view: View) -> Grid:
    found = rows(report.nodes, by, view.depth, view.sort)
    shown = found[: view.top or SHOWN_ROWS]
    of = "" if len(shown) == len(found) else f", {len(shown)} of {len(found)}"
    repeated = by is By.NODE and any(row["repeats"] != 1 for row in shown)
    per_run = "; figures of one execution, shares of all" if repeated else ""
    per_op = next((bound.per_op_s for bound in report.bounds), None)
    known = "" if report.totals.complete else "known "
    headings = [
        *_names(by),
        *([Heading("runs")] if repeated else []),
        Heading("MACs", drop=1),
        Heading(f"of {known}MACs", drop=3),
        Heading("FLOPs"),
        Heading(f"of {known}FLOPs"),
        Heading("read", drop=4),
        Heading("written", drop=5),
        Heading("params", drop=6),
        *([Heading("of bound", drop=2)] if per_op else []),
    ]
    lines = [
        [*_identity(row, by), *(_runs(row) if repeated else []), *_figures(row, report.totals), *_share(row, per_op)]
        for row in shown
    ]
    return Grid(f"{TITLES[by]} by {view.sort}{of}{per_run}{_what_it_holds(by, view.depth)}", headings, lines)


def _what_it_holds(by: By, depth: int | None) -> str:
    """Whether rows of groups overlap, where a reader could think either."""
    if by is By.MODULE and depth is None:
        return "; each node in its innermost module alone, --depth sums what is inside"
    if by in (By.FUNCTION, By.CALL):
        return "; what is called is part of who calls it"
    return ""


def _names(by: By) -> list[Heading]:
    """Headings of the columns that say what a row is."""
    second = {
        By.NODE: Heading("operator", "name"),
        By.CALL: Heading("function", "name"),
        By.FUNCTION: Heading("calls"),
    }
    more = [second[by]] if by in second else []
    return [Heading(NAMES[by], "name"), *more, *([] if by is By.NODE else [Heading("nodes")])]


def _identity(row: Row, by: By) -> list[str]:
    if by is By.NODE:
        body = f"{row['graph'].removeprefix('main/')}/" if row["graph"] != "main" else ""
        return [body + row["name"], f"{row['domain']}::{row['op_type']}" if row["domain"] else row["op_type"]]
    more = {By.CALL: "function", By.FUNCTION: "calls"}.get(by)
    return [row["name"], *([str(row[more] or "")] if more else []), str(row["nodes"])]


def _runs(row: Row) -> list[str]:
    return ["?" if row["repeats"] is None else f"{row['repeats']:,}"]


def _figures(row: Row, totals: Totals) -> list[str]:
    least = bool(row.get("unknown"))
    return [
        count(row["macs"], least=least),
        share(row.get("total_macs", row["macs"]), totals.macs),
        count(row["flops"], least=least),
        share(row.get("total_flops", row["flops"]), totals.flops),
        size(row["read_bytes"], least=least),
        size(row["write_bytes"], least=least),
        count(row["parameters"]),
    ]


def _share(row: Row, per_op: float | None) -> list[str]:
    """The part of the bound over all nodes."""
    if not per_op:
        return []
    return [share(times(row["bound_s"], row.get("repeats", 1)), per_op)]


def _coverage(report: Report, *, verbose: bool) -> list[Block]:
    coverage = report.coverage
    lines = [f"Coverage: {coverage.costed} of {coverage.nodes} nodes have a cost"]
    for found in coverage.uncounted:
        name = f"{found['domain']}::{found['op_type']}" if found["domain"] else found["op_type"]
        lines.append(f"  uncounted: {name} x {found['nodes']}: {found['why']}")
    unknown = coverage.unknown_shapes
    shown = unknown if verbose else unknown[:SHOWN_SHAPES]
    lines += [f'  unknown: node "{found["node"]}", tensor "{found["tensor"]}": {found["why"]}' for found in shown]
    if hidden := len(unknown) - len(shown):
        lines.append(f"  unknown: {hidden} more nodes; --verbose lists them")
    return [Paragraph(line) for line in lines]

"""A report as tables that fit the terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from neural_cost.render.grouping import By, Column, Row, operator, rows
from neural_cost.render.text import clean, count, seconds, share, size

SHOWN_SHAPES = 10
WIDTH_WITHOUT_TERMINAL = 120


@dataclass(frozen=True, slots=True)
class View:
    """What of a report to show. Without `by`, both the nodes and the operators."""

    by: By | None = None
    depth: int | None = None
    top: int = 10
    sort: Column = Column.FLOPS
    quiet: bool = False
    verbose: bool = False


def report_table(report: Row, view: View, *, colour: bool) -> str:
    """The report as text: model, what was assumed, totals, bounds, the chosen view, and what is left out."""
    parts: list[RenderableType] = [*_head(report), _totals(report)]
    if not view.quiet:
        parts += [part for bound in report["bounds"] for part in (_bound(bound), *_bound_notes(bound))]
        parts += [_view(report, by, view) for by in ([view.by] if view.by else [By.NODE, By.OP])]
    return draw([*parts, *_coverage(report, view), *(Text(clean(note)) for note in report["notes"])], colour=colour)


def draw(parts: Sequence[RenderableType], *, colour: bool) -> str:
    """Lay the parts out for this terminal."""
    buffer = StringIO()
    width = shutil.get_terminal_size((WIDTH_WITHOUT_TERMINAL, 24)).columns
    console = Console(file=buffer, width=width, force_terminal=colour, no_color=not colour, highlight=False)
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip().splitlines())


def colour_wanted() -> bool:
    """Whether stdout is a terminal and `NO_COLOR` is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def grid(title: str, headers: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    """A table whose first column is text, cut where it does not fit, and whose other columns are figures."""
    table = Table(title=Text(title, style="bold"), title_justify="left", box=None, pad_edge=False)
    table.add_column(headers[0], overflow="ellipsis", no_wrap=True)
    for header in headers[1:]:
        table.add_column(header, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(*(Text(clean(cell)) for cell in line))
    return table


def _head(report: Row) -> list[Text]:
    model = report["model"]
    opsets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in model["opsets"].items())
    lines = [Text(clean(f"{model['path']}: {model['nodes']} nodes, opset {opsets}"), style="bold")]
    if assumed := model["assumed_dims"]:
        taken = ", ".join(f"{name} = {model['dims'].get(name, 1)}" for name in assumed)
        lines.append(Text(clean(f"Assumed, as nobody gave it: {taken}; set it by --dim NAME=SIZE"), style="yellow"))
    if given := [f"{name} = {size}" for name, size in model["dims"].items() if name not in assumed]:
        lines.append(Text(clean(f"Given: {', '.join(given)}")))
    for false in model["false_shapes"]:
        said = f'"{false["tensor"]}" is declared {_dims(false["declared"])} and inferred {_dims(false["inferred"])}'
        lines.append(Text(clean(f"False shape, not trusted: {said}"), style="yellow"))
    return lines


def _dims(shape: Any) -> str:
    return "x".join(map(str, shape)) if isinstance(shape, list | tuple) else str(shape)


def _totals(report: Row) -> Table:
    totals = report["totals"]
    least = not totals["complete"]
    traffic = totals["traffic_bytes"]
    lines = [
        ("MACs", count(totals["macs"], least=least), _types(totals["macs_by_type"])),
        ("FLOPs", count(totals["flops"], least=least), _types(totals["flops_by_type"])),
        ("  2 x MACs", count(report["convention"]["flops_per_mac"] * totals["macs"], least=least), ""),
        ("  other", count(totals["other_flops"], least=least), f"{count(totals['special_ops'])} transcendental"),
        (
            "Parameters",
            f"{'>= ' if least else ''}{totals['parameters']:,}",
            size(totals["parameter_bytes"], least=least),
        ),
        ("Traffic, per op", size(traffic["per_op"], least=least), "each node reads its inputs, writes its outputs"),
        ("Traffic, compulsory", size(traffic["compulsory"], least=least), "weights, inputs and outputs once"),
    ]
    table = Table(box=None, pad_edge=False, show_header=False)
    for justify in ("left", "right", "left"):
        table.add_column(justify=justify)
    for line in lines:
        table.add_row(*map(Text, line))
    if least:
        table.add_row(Text("INCOMPLETE", style="bold red"), "", Text("what coverage lists is left out"))
    return table


def _types(by_type: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count(value)}" for kind, value in by_type.items())


def _bound(bound: Row) -> Text:
    named = (("floor", bound["floor_s"]), ("fused", bound["fused_s"]), ("per op", bound["per_op_s"]))
    times = ", ".join(f"{name} {seconds(value)}" for name, value in named)
    missing = f"; left out: {', '.join(bound['missing'])}" if bound.get("missing") else ""
    return Text(
        clean(
            f"No faster on {bound['device']} ({bound['kind']}) than: {times}; limited by {bound['limited_by']}{missing}"
        )
    )


def _bound_notes(bound: Row) -> list[Text]:
    return [Text(clean(f"  {note}"), style="dim") for note in bound.get("notes", ())]


def _view(report: Row, by: By, view: View) -> Table:
    found = rows(report["nodes"], by, view.depth, view.sort)
    shown = found[: view.top]
    of = "" if len(shown) == len(found) else f", {len(shown)} of {len(found)}"
    known = "" if report["totals"]["complete"] else "known "
    headers = ["MACs", f"of {known}MACs", "FLOPs", f"of {known}FLOPs", "read", "written"]
    per_op = next((bound["per_op_s"] for bound in report["bounds"]), None)
    if by is By.NODE:
        bound_header = ["of bound"] if per_op else []
        lines = [
            [row["name"], operator(row), *_figures(row, report), *([share(row.get("bound_s"), per_op)] * bool(per_op))]
            for row in shown
        ]
        return grid(f"\nNodes by {view.sort}{of}", ["node", "operator", *headers, *bound_header], lines)
    lines = [[row["name"], str(row["nodes"]), *_figures(row, report)] for row in shown]
    what = "operator" if by is By.OP else "module"
    return grid(f"\n{what.capitalize()}s by {view.sort}{of}", [what, "nodes", *headers], lines)


def _figures(row: Row, report: Row) -> list[str]:
    totals, least = report["totals"], bool(row.get("unknown"))
    return [
        count(row["macs"], least=least),
        share(row["macs"], totals["macs"]),
        count(row["flops"], least=least),
        share(row["flops"], totals["flops"]),
        size(row["read_bytes"], least=least),
        size(row["write_bytes"], least=least),
    ]


def _coverage(report: Row, view: View) -> list[Text]:
    coverage = report["coverage"]
    lines = [f"\nCoverage: {coverage['costed']} of {coverage['nodes']} nodes have a cost"]
    lines += [f"  uncounted: {operator(found)} x {found['nodes']}: {found['why']}" for found in coverage["uncounted"]]
    unknown = coverage["unknown_shapes"]
    shown = unknown if view.verbose else unknown[:SHOWN_SHAPES]
    lines += [f'  unknown: node "{found["node"]}", tensor "{found["tensor"]}": {found["why"]}' for found in shown]
    if hidden := len(unknown) - len(shown):
        lines.append(f"  unknown: {hidden} more nodes; --verbose lists them")
    return [Text("\n" * line.startswith("\n") + clean(line.lstrip("\n"))) for line in lines]

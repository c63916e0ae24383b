"""A report as it is printed, in each of the forms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from neural_cost.analyzer.tables.view import By, View
from neural_cost.render.forms import Format, delimited

if TYPE_CHECKING:
    from neural_cost.analyzer.report import Report
    from neural_cost.runtime.verify import Verification


def report_text(report: Report, found: Verification | None, form: Format, view: View, *, colour: bool) -> str:
    """The report, and its comparison with a run; a format that has no room for that leaves it to stderr."""
    from neural_cost.analyzer.tables.rows import columns, rows

    if form is Format.JSON:
        return json.dumps(_report_data(report, found, view), indent=1)
    if form is Format.TABLE:
        return _table(report, found, view, colour=colour)
    if found is not None and not view.quiet:
        typer.echo(str(found), err=True)
    if view.training is not None:
        return _training_rows(report, form, view)
    if view.predict:
        return _prediction_rows(report, form, view)
    by = view.by or By.NODE
    return delimited(form, rows(report.nodes, by, view.depth, view.sort)[: view.top], columns(by))


def _training_rows(report: Report, form: Format, view: View) -> str:
    """The nodes that run backward; what they leave out goes to stderr."""
    from neural_cost.analyzer.training.record import NodeTraining

    found = report.training(view.training)
    for each in () if view.quiet else (*found.uncounted, *found.unknown):
        typer.echo(f"left out backward: {each.get('op_type') or each.get('node')}: {each['why']}", err=True)
    return delimited(form, [node.to_dict() for node in found.nodes][: view.top], list(NodeTraining.__slots__))


def _prediction_rows(report: Report, form: Format, view: View) -> str:
    """The kernels that are predicted; what makes them doubtful goes to stderr."""
    from neural_cost.analyzer.tables.prediction import COLUMNS, prediction_rows

    found = report.prediction
    for note in () if view.quiet else found.notes:
        typer.echo(note, err=True)
    return delimited(form, prediction_rows(found, report.nodes)[: view.top], list(COLUMNS))


def _report_data(report: Report, found: Verification | None, view: View) -> dict[str, Any]:
    from neural_cost.analyzer.tables.rows import rows

    data = report.to_dict(
        memory=view.memory,
        best_order=view.best_order,
        in_place=view.in_place,
        training=view.training,
        prediction=view.predict,
    )
    if view.by is not None:
        shown = rows(report.nodes, view.by, view.depth, view.sort)[: view.top]
        data["view"] = {"by": view.by.value, "depth": view.depth, "sort": view.sort.value, "rows": shown}
    return data if found is None else data | {"verification": found.to_dict()}


def _table(report: Report, found: Verification | None, view: View, *, colour: bool) -> str:
    from neural_cost.analyzer.tables.blocks import Paragraph
    from neural_cost.analyzer.tables.summary import summary
    from neural_cost.analyzer.tables.text import to_text

    ran = [] if found is None else [Paragraph(line) for line in str(found).splitlines()]
    return to_text([*summary(report, view), *ran], colour=colour)

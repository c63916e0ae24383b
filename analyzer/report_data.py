"""A report as plain data: the JSON that the command writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.cost import FLOPS_PER_MAC
from neural_cost.analyzer.memory.fits import InPlace

if TYPE_CHECKING:
    from neural_cost.analyzer.findings.record import Finding
    from neural_cost.analyzer.report import Report
    from neural_cost.analyzer.training.options import TrainingOptions


def report_data(
    report: Report,
    *,
    memory: bool,
    best_order: bool,
    in_place: InPlace,
    training: TrainingOptions | None,
    findings: Sequence[Finding] | None,
    prediction: bool,
) -> dict[str, Any]:
    """What `Report.to_dict` says; `findings` None are those that are predicted."""
    from importlib.metadata import version

    tokens = report.tokens
    return {
        "schema_version": 1,
        "tool": {"name": "neural-cost", "version": version("neural-cost")},
        "convention": {"flops_per_mac": FLOPS_PER_MAC, "causal_attention": report.causal},
        "model": report.model.to_dict(),
        "totals": report.totals.to_dict(),
        "coverage": report.coverage.to_dict(),
        **({} if tokens is None else {"tokens": tokens.to_dict()}),
        "memory": _memory(report, timeline=memory, best=best_order, in_place=in_place),
        **({} if training is None else {"training": report.training(training).to_dict()}),
        **_formulas(report),
        "nodes": _nodes(report),
        "bounds": [bound.to_dict() for bound in report.bounds],
        "findings": [each.to_dict() for each in (report.findings if findings is None else findings)],
        **({"prediction": report.prediction.to_dict()} if prediction else {}),
        "notes": report.notes,
    }


def _memory(report: Report, *, timeline: bool, best: bool, in_place: InPlace) -> dict[str, Any]:
    found = report.memory.to_dict()
    if not timeline:
        del found["timeline"]
    elif (fit := report.fits(in_place=in_place)) is not None:
        found["fits"] = fit.to_dict()
    return found | ({"best": report.best_order().to_dict()} if best else {})


def _formulas(report: Report) -> dict[str, Any]:
    """The formulas of what is open; nothing where nothing is."""
    if not report.opened.names:
        return {}
    ranges = {name: found.to_dict() for name, found in report.ranges.items()}
    per_token = {name: str(found) for name, found in report.per_token.items()}
    more = {"ranges": ranges} | ({"per_token": per_token} if per_token else {})
    return {"formulas": report.formulas.to_dict() | more}


def _nodes(report: Report) -> list[dict[str, Any]]:
    """The nodes, with formulas of one execution and of their repeats where dimensions are open."""
    plain = [node.to_dict() for node in report.nodes]
    if not report.opened.names:
        return plain
    texts = [
        None if found is None else {name: str(formula) for name, formula in found.items()}
        for found in report.formulas.nodes
    ]
    return [node | {"formulas": text} for node, text in zip(plain, texts, strict=True)]

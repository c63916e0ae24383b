"""Weights that are in the file twice, or that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.stored_weights import bytes_of, duplicates, unused
from neural_cost.analyzer.tables.figures import size


def duplicate_weights(subject: Subject) -> Iterator[Finding]:
    """Weights that are equal to others, byte by byte."""
    model = subject.report.opened.inference.engine.model.ir
    groups = duplicates(model)
    if not groups:
        return
    extra = sum(bytes_of(model, name) or 0 for group in groups for name in group[1:])  # known, or they were not read
    names = {name for group in groups for name in group}
    places = [place for place, node in enumerate(subject.nodes) if any(t.name in names for t in node.inputs)]
    copies = sum(len(group) - 1 for group in groups)
    bandwidth = None if subject.device is None else subject.device.bandwidth(subject.report.totals.parameter_bytes)
    yield subject.finding(
        "duplicate-weights",
        places,
        f"{copies} weights, {size(extra)}, are equal to another one, such as {groups[0][1]} to {groups[0][0]}",
        None if bandwidth is None else extra / bandwidth,
        "let the nodes read one tensor: tie the weights in the framework, or merge equal initializers (onnxslim)",
    )


def unused_weights(subject: Subject) -> Iterator[Finding]:
    """Initializers that no node reads."""
    model = subject.report.opened.inference.engine.model.ir
    names = unused(model)
    held = [bytes_of(model, name) for name in names]
    known = size(sum(each or 0 for each in held), least=None in held)
    if names:
        yield subject.finding(
            "unused-weights",
            (),
            f"{len(names)} initializers, {known}, are read by no node, such as {names[0]}",
            0.0,
            "remove them: they make the file and its loading larger, and no run slower",
        )

"""Recurrence written as a loop, where one operator would do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from neural_cost.analyzer.bounding import node_work
from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.roofline import kernel_bound

SHARE = 0.01  # of the whole time
LOOPS = ("Loop", "Scan")


def recurrent_loops(subject: Subject) -> Iterator[Finding]:
    """Loop and Scan nodes whose body has products: each step starts every kernel of the body again."""
    loops = [(place, body) for place, body in _bodies(subject) if _recurs(subject, body)]
    saved = [subject.savings([place, *body], _compute(subject, body)) or 0.0 for place, body in loops]
    if not loops or not subject.matters(sum(saved), SHARE):
        return
    places = [each for place, body in loops for each in (place, *body)]
    first, steps = subject.nodes[loops[0][0]], max(_runs(subject, body) for _, body in loops)
    yield subject.finding(
        "recurrent-loop",
        places,
        f"{len(loops)} loops, such as {first.op_type} {first.label}, run bodies of {len(places) - len(loops)} nodes "
        f"up to {steps:,} times; they {subject.took(places)}",
        sum(saved),
        "write the recurrence as an LSTM, GRU or RNN operator: export the framework's own layer (in PyTorch "
        "torch.nn.LSTM, in Keras keras.layers.LSTM), or do the products with the inputs of all steps before the loop",
    )


def _bodies(subject: Subject) -> Iterator[tuple[int, list[int]]]:
    """Each loop with the nodes of its body."""
    for place, node in enumerate(subject.nodes):
        if node.op_type in LOOPS and not node.domain:
            inside = f"{node.graph}/{node.name}/"
            yield place, [each for each, inner in enumerate(subject.nodes) if inner.graph.startswith(inside)]


def _recurs(subject: Subject, body: list[int]) -> bool:
    return _runs(subject, body) > 1 and any(subject.nodes[each].macs for each in body)


def _runs(subject: Subject, body: list[int]) -> int:
    return max((subject.nodes[each].repeats or 0 for each in body), default=0)


def _compute(subject: Subject, places: list[int]) -> float:
    """Seconds that their arithmetic needs at least: an operator keeps the rest in its caches."""
    if subject.device is None:
        return 0.0
    found = [node_work(subject.nodes[place].source, subject.nodes[place].repeats or 0) for place in places]
    works = [replace(work, bytes_moved=0) for work in found if work is not None]
    return sum(kernel_bound(work, subject.device).compute_s or 0.0 for work in works)

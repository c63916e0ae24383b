"""Recurrence written as a loop, where one operator would do."""

from __future__ import annotations

from collections.abc import Iterator

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.roofline import Work, kernel_bound

SHARE = 0.01  # of the whole time
LOOPS = ("Loop", "Scan")


def recurrent_loops(subject: Subject) -> Iterator[Finding]:
    """Loop and Scan nodes whose body multiplies by weights: each step starts every kernel of the body again."""
    for place, node in enumerate(subject.nodes):
        if node.op_type not in LOOPS or node.domain:
            continue
        body = [
            each for each, inner in enumerate(subject.nodes) if inner.graph.startswith(f"{node.graph}/{node.name}/")
        ]
        runs = max((subject.nodes[each].repeats or 0 for each in body), default=0)
        if runs < 2 or not any(_multiplies_by_weights(subject, each) for each in body):
            continue
        places = [place, *body]
        saves = subject.savings(places, _compute(subject, body))
        if subject.matters(saves, SHARE):
            yield subject.finding(
                "recurrent-loop",
                places,
                f"{node.op_type} {node.label} runs a body of {len(body)} nodes {runs:,} times; "
                f"they {subject.took(places)}",
                saves,
                "write the recurrence as an LSTM, GRU or RNN operator: export the framework's own layer (in PyTorch "
                "torch.nn.LSTM, in Keras keras.layers.LSTM), or do the products with the inputs of all steps before "
                "the loop",
            )


def _multiplies_by_weights(subject: Subject, place: int) -> bool:
    node = subject.nodes[place]
    return bool(node.macs) and bool(node.weights or any(tensor.constant for tensor in node.inputs))


def _compute(subject: Subject, places: list[int]) -> float:
    """Seconds that their arithmetic needs at least: an operator keeps the rest in its caches."""
    if subject.device is None:
        return 0.0
    works = [
        Work(cost.flops_by_type, 0, subject.nodes[place].repeats or 0)
        for place in places
        if (cost := subject.nodes[place].source.cost) is not None
    ]
    return sum(kernel_bound(work, subject.device).compute_s or 0.0 for work in works)

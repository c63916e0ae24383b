"""Attention as separate nodes: the matrix of scores is written and read between them."""

from __future__ import annotations

from collections.abc import Iterator

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.tables.figures import size

SHARE = 0.01  # of the whole time
PRODUCTS = ("MatMul", "Gemm", "Einsum", "com.microsoft::FusedMatMul")
BETWEEN = ("Add", "Sub", "Mul", "Div", "Where", "Cast", "Reshape", "Identity", "Dropout", "Squeeze", "Unsqueeze")
MOST_BETWEEN = 6  # scale, mask, casts


def unfused_attention(subject: Subject) -> Iterator[Finding]:
    """Products joined by a softmax, in kernels of their own."""
    found = [nodes for place in range(len(subject.nodes)) if (nodes := _attention(subject, place)) is not None]
    found = [nodes for nodes in found if subject.kernel_count(nodes) > 1]
    saves = sum(subject.savings(nodes, subject.bound_of(nodes, together=True)) or 0.0 for nodes in found)
    if not found or not subject.matters(saves, SHARE):
        return
    places = [place for nodes in found for place in nodes]
    scores = sum(_score_bytes(subject, nodes) for nodes in found)
    yield subject.finding(
        "unfused-attention",
        places,
        f"{len(found)} attentions are products and a softmax in separate kernels, which {subject.took(places)}; "
        f"their scores, {size(scores)}, go to memory between them",
        saves,
        "export at opset 23 with the Attention operator, or let onnxruntime.transformers.optimizer fuse them; "
        "natively, torch's scaled_dot_product_attention",
    )


def _attention(subject: Subject, place: int) -> list[int] | None:
    """The nodes from the product that makes scores to the one that uses their softmax."""
    if subject.nodes[place].op_type != "Softmax" or not subject.runs(place):
        return None
    before, after = _back(subject, place), _on(subject, place)
    return None if before is None or after is None else [*reversed(before), place, *after]


def _back(subject: Subject, place: int) -> list[int] | None:
    path: list[int] = []
    while len(path) <= MOST_BETWEEN:
        writers = [subject.writers.get(tensor.name) for tensor in subject.nodes[place].inputs]
        known = [each for each in writers if each is not None and subject.runs(each)]
        product = next((each for each in known if subject.nodes[each].operator in PRODUCTS), None)
        if product is not None:
            return [*path, product]
        step = next((each for each in known if subject.nodes[each].operator in BETWEEN), None)
        if step is None:
            return None
        path.append(step)
        place = step
    return None


def _on(subject: Subject, place: int) -> list[int] | None:
    path: list[int] = []
    while len(path) <= MOST_BETWEEN:
        readers = set().union(*(subject.readers.get(tensor.name, set()) for tensor in subject.nodes[place].outputs))
        if len(readers) != 1 or (step := next(iter(readers))) < 0 or not subject.runs(step):
            return None
        path.append(step)
        if subject.nodes[step].operator in PRODUCTS:
            return path
        if subject.nodes[step].operator not in BETWEEN:
            return None
        place = step
    return None


def _score_bytes(subject: Subject, places: list[int]) -> int:
    softmax = next(place for place in places if subject.nodes[place].op_type == "Softmax")
    node = subject.nodes[softmax]
    return (node.write_bytes or 0) * (node.repeats or 0)

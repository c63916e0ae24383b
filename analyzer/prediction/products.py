"""Pieces of products of matrices and of recurrent operators.

Kinds "MatMul weight", "MatMulInteger", "DynamicQuantizeMatMul": rows, inner size, columns; the second matrix is
constant. "MatMul": products, rows, inner size, columns; neither is constant. "LSTM", "GRU", "RNN": steps, batch,
hidden size.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from neural_cost.analyzer.prediction.elementwise import of_elements
from neural_cost.analyzer.prediction.piece import Job, Piece, ints

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def matmul(job: Job) -> Iterator[Piece]:
    """A MatMul, with what is fused into it."""
    a, b = ints(job.node.x), ints(job.node.input(1))
    yield from _of_shapes(a, b, job.weight(1))


def _of_shapes(a: tuple[int, ...], b: tuple[int, ...], weight: bool) -> Iterator[Piece]:
    rows = a[-2] if len(a) > 1 else 1
    columns = b[-1] if len(b) > 1 else 1
    if weight and len(b) <= 2:  # all rows of all examples are one product
        yield Piece("MatMul weight", (prod(a[:-1]), a[-1], columns))
    else:
        many = max(prod(a[:-2]), prod(b[:-2]))
        yield Piece("MatMul", (many, rows, a[-1], columns))


def fused_matmul(job: Job) -> Iterator[Piece]:
    """A FusedMatMul that a file has: either operand may be turned round."""
    a, b = ints(job.node.x), ints(job.node.input(1))
    turned = [(*x[:-2], x[-1], x[-2]) if job.node.attr(name, 0) else x for x, name in ((a, "transA"), (b, "transB"))]
    yield from _of_shapes(turned[0], turned[1], job.weight(1))


def gemm(job: Job) -> Iterator[Piece]:
    """A Gemm, with what is fused into it."""
    a, b = ints(job.node.x), ints(job.node.input(1))
    rows, inner = (a[1], a[0]) if job.node.attr("transA", 0) else (a[0], a[1])
    columns = b[0] if job.node.attr("transB", 0) else b[1]
    yield (
        Piece("MatMul weight", (rows, inner, columns)) if job.weight(1) else Piece("MatMul", (1, rows, inner, columns))
    )


def integers(job: Job) -> Iterator[Piece]:
    """A product of quantized matrices; where it quantizes its operand itself, that too."""
    at = 3 if job.node.op_type == "QLinearMatMul" else 1
    a, b = ints(job.node.x), ints(job.node.input(at))
    kind = "DynamicQuantizeMatMul" if job.group.kernel == "DynamicQuantizeMatMul" else "MatMulInteger"
    yield Piece(kind, (prod(a[:-1]), a[-1], b[-1]), guess=len(b) > 2 or not job.weight(at))


def recurrent(job: Job) -> Iterator[Piece]:
    """An LSTM, GRU or RNN: the product of all steps with the input's weights, then step by step."""
    steps, batch, features = ints(job.node.x)
    if job.node.attr("layout", 0):
        steps, batch = batch, steps
    directions, _, hidden = ints(job.node.input(2))
    kind = job.node.op_type.removeprefix("DynamicQuantize")
    guess = kind != job.node.op_type
    yield Piece(kind, (steps, batch, hidden), directions, guess)
    yield Piece("MatMul weight", (steps * batch, features, GATES[kind] * hidden), directions, guess)


def einsum(job: Job) -> Iterator[Piece]:
    """An Einsum, as one product of the size of its MACs over its output."""
    cost = job.graph.nodes[job.group.anchor].cost
    made = prod(ints(job.node.y))
    inner = max(1, (cost.macs if cost is not None else 0) // max(1, made))
    rows = ints(job.node.y)[-1] if ints(job.node.y) else 1
    yield Piece("MatMul", (1, max(1, made // rows), inner, rows), guess=True)
    yield from of_elements("Transpose 2d", made, rows, guess=True)

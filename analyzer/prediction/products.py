"""Pieces of products of matrices and of recurrent operators.

Kinds "MatMul weight", "MatMulInteger", "DynamicQuantizeMatMul": rows, inner size, columns; the second matrix is
constant. "MatMul": products, rows, inner size, columns; neither is constant. "LSTM", "GRU", "RNN",
"DynamicQuantizeLSTM": steps, batch, hidden size.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from math import prod

from neural_cost.analyzer.prediction.elementwise import of_elements
from neural_cost.analyzer.prediction.piece import Job, Piece, ints


def matmul(job: Job) -> Iterator[Piece]:
    """A MatMul, with what is fused into it."""
    a, b = ints(job.node.x), ints(job.node.input(1))
    yield from _of_shapes(a, b, job.weight(1))


def _of_shapes(a: tuple[int, ...], b: tuple[int, ...], weight: bool) -> Iterator[Piece]:
    rows = a[-2] if len(a) > 1 else 1
    columns = b[-1] if len(b) > 1 else 1
    if weight and len(b) <= 2:  # all rows of all examples are one product
        yield Piece("MatMul weight", (prod(a[:-1]), a[-1], columns), guess=len(b) < 2)
    else:
        yield Piece("MatMul", (_repeated(a[:-2], b[:-2]), rows, a[-1], columns))


def _repeated(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """Products of two stacks of matrices: an axis of one is repeated along that of the other."""
    pairs = zip_longest(reversed(a), reversed(b), fillvalue=1)
    return prod(other if one == 1 else one for one, other in pairs)


def fused_matmul(job: Job) -> Iterator[Piece]:
    """A FusedMatMul that a file has: either operand may be turned round."""
    a, b = ints(job.node.x), ints(job.node.input(1))
    turned = [_turned(x) if job.node.attr(name, 0) else x for x, name in ((a, "transA"), (b, "transB"))]
    yield from _of_shapes(turned[0], turned[1], job.weight(1))


def _turned(dims: tuple[int, ...]) -> tuple[int, ...]:
    """The last two axes change places; a vector stays as it is."""
    return (*dims[:-2], *reversed(dims[-2:])) if len(dims) > 1 else dims


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
    kind = "DynamicQuantizeMatMul" if job.kernel == "DynamicQuantizeMatMul" else "MatMulInteger"
    rows = prod(a[:-1]) if len(b) <= 2 else _repeated(a[:-2], b[:-2]) * (a[-2] if len(a) > 1 else 1)
    columns = b[-1] if len(b) > 1 else 1
    yield Piece(kind, (rows, a[-1], columns), guess=len(b) != 2 or not job.weight(at))


def recurrent(job: Job) -> Iterator[Piece]:
    """An LSTM, GRU or RNN: the product of all steps with the input's weights, then step by step."""
    steps, batch, features = ints(job.node.x)
    if job.node.attr("layout", 0):
        steps, batch = batch, steps
    directions, *weights = ints(job.node.input(2))
    kind = job.node.op_type
    hidden = min(weights)  # (gates x hidden, hidden), or turned round where they are quantized
    product = "DynamicQuantizeMatMul" if kind == "DynamicQuantizeLSTM" else "MatMul weight"
    yield Piece(kind, (steps, batch, hidden), directions)
    yield Piece(product, (steps * batch, features, max(weights)), directions)


def einsum(job: Job) -> Iterator[Piece]:
    """An Einsum, as one product of the size of its MACs over its output."""
    cost = job.graph.nodes[job.group.anchor].cost
    made = prod(ints(job.node.y))
    inner = max(1, (cost.macs if cost is not None else 0) // max(1, made))
    rows = ints(job.node.y)[-1] if ints(job.node.y) else 1
    yield Piece("MatMul", (1, max(1, made // rows), inner, rows), guess=True)
    yield from of_elements("Transpose 2d", made, rows, guess=True)

"""Pieces of elementwise operators, normalizations, reductions and poolings.

Kinds of elementwise operators: elements. "... broadcast", "BiasGelu": rows, and how many elements each has, of which
one operand has but one row. Softmax, normalizations: rows that are normalized, and their length. "ReduceMean": rows,
and how many elements each is reduced from; "ReduceMean first": elements that each is reduced from, and how many there
are.
Pools: elements of the output, elements of a window. "GlobalAveragePool": channels over all examples, elements of
each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from neural_cost.analyzer.prediction.piece import Job, Piece, count, ints, tail

LIKE = {
    "Sub": "Add", "Sum": "Add", "Max": "Min", "Mean": "Add", "PRelu": "Mul", "Greater": "Less", "Or": "And",
    "GreaterOrEqual": "Less", "LessOrEqual": "Less", "Xor": "And", "Ceil": "Floor", "Cos": "Sin", "Tan": "Sin",
    "Selu": "Elu", "Celu": "Elu", "Softsign": "Sigmoid", "ThresholdedRelu": "Relu", "Mish": "Softplus",
    "IsInf": "IsNaN", "Mod": "Div", "Swish": "QuickGelu", "BitwiseAnd": "And", "BitwiseOr": "And", "BitwiseNot": "Not",
}  # fmt: skip


def elementwise(job: Job) -> Iterator[Piece]:
    """One result for each element; an operand that has fewer is repeated."""
    kind = LIKE.get(job.group.kernel, job.group.kernel)
    made = count(job.node.y)
    operands = [ints(tensor) for tensor in job.node.inputs if tensor is not None]
    smaller = [dims for dims in operands if prod(dims) < made]
    if kind == "Clip" or not smaller or len(operands) == 1:
        yield Piece(kind, (made,))
    elif kind == "Where":
        yield _where(operands, ints(job.node.y))
    elif all(prod(dims) == 1 for dims in smaller):
        scalar = kind == "Pow" or kind in ("Add", "Mul", "Div", "Min", "Less", "Equal")
        yield Piece(f"{'Pow' if kind == 'Pow' else 'Add'} scalar" if scalar else kind, (made,))
    else:
        length = min(_repeated(dims, ints(job.node.y)) for dims in smaller if prod(dims) > 1)
        yield Piece("Add broadcast", (made / length, length), guess=kind not in ("Add", "Mul"))


def _where(operands: Sequence[tuple[int, ...]], made: tuple[int, ...]) -> Piece:
    """A Where with operands that are repeated: one number, or rows."""
    elements = prod(made)
    lengths = [_repeated(dims, made) for dims in operands if 1 < prod(dims) < elements]
    length = min(lengths, default=elements)
    has_scalar = any(prod(dims) == 1 for dims in operands[1:])
    return Piece("Where scalar" if has_scalar else "Where broadcast", (elements / length, length))


def _repeated(dims: tuple[int, ...], made: tuple[int, ...]) -> int:
    """How many elements of an operand, or of the result, lie together before the operand is taken again."""
    padded = (1,) * (len(made) - len(dims)) + dims
    same, single = 1, 1
    for have, want in zip(reversed(padded), reversed(made), strict=True):
        if have == want and single == 1:
            same *= want
        elif have == 1 and same == 1:
            single *= want
        elif want != 1:
            break
    return max(same, single)


def unary(job: Job) -> Iterator[Piece]:
    """One result for each element of one operand, under the name of the kernel."""
    yield Piece(job.group.kernel, (count(job.made),))


def bias_gelu(job: Job) -> Iterator[Piece]:
    """A Gelu with a bias."""
    *rows, length = ints(job.made)
    yield Piece("BiasGelu", (prod(rows), length))


def normalization(job: Job) -> Iterator[Piece]:
    """A LayerNormalization or one like it, of the last axes."""
    dims = ints(job.graph.node(job.group.places[0]).x)
    axis = int(job.node.attr("axis", -1)) if job.node.op_type.endswith("LayerNormalization") else -1
    length = tail(dims, axis % len(dims)) if dims else 1
    yield Piece(job.group.kernel, (prod(dims) / max(1, length), length))


def softmax(job: Job) -> Iterator[Piece]:
    """A Softmax; where it is not of the last axis, that is brought there and back."""
    dims = ints(job.node.x)
    old = job.node.version < 13
    axis = int(job.node.attr("axis", 1 if old else -1)) % max(1, len(dims))
    length = tail(dims, axis) if old else dims[axis] if dims else 1
    rows = prod(dims) / max(1, length)
    yield Piece("Softmax", (rows, length))
    if not old and axis != len(dims) - 1:
        yield Piece("Transpose 2d", (rows, length), 2)


def reduction(job: Job) -> Iterator[Piece]:
    """A reduction of the last axes, or of others."""
    dims, made = ints(job.node.x), count(job.node.y)
    reduced = prod(dims) / max(1, made)
    kind = "ArgMax" if job.node.op_type.startswith("Arg") else "ReduceMean"
    last = not dims or _reduces_last(job, len(dims))
    guess = job.node.op_type not in ("ReduceMean", "ReduceSum", "ReduceMax", "ArgMax")
    if last or kind == "ArgMax":
        yield Piece(kind, (made, reduced), guess=guess)
    else:
        yield Piece("ReduceMean first", (reduced, made), guess=guess)


def _reduces_last(job: Job, rank: int) -> bool:
    """Whether the last axis is one of those that are reduced."""
    given = job.node.input(1)
    axes = job.node.attr("axes") or ([job.node.attr("axis", 0)] if job.node.op_type.startswith("Arg") else None)
    if given is not None and given.value is not None:
        axes = given.ints()
    return axes is None or any(int(axis) % rank == rank - 1 for axis in axes)


def batch_normalization(job: Job) -> Iterator[Piece]:
    """A BatchNormalization that is a kernel of its own."""
    yield Piece("BatchNormalization", (count(job.node.y),))


def instance_normalization(job: Job) -> Iterator[Piece]:
    """An InstanceNormalization, or one of groups of channels."""
    dims = ints(job.node.x)
    rows = (
        prod(dims[:2]) if job.node.op_type == "InstanceNormalization" else dims[0] * int(job.node.attr("num_groups", 1))
    )
    yield Piece("InstanceNormalization", (rows, prod(dims) / max(1, rows)))


def local_response(job: Job) -> Iterator[Piece]:
    """An LRN over some channels around each."""
    yield Piece("LRN", (count(job.node.y),), int(job.node.attr("size", 5)) / 5)


def pool(job: Job) -> Iterator[Piece]:
    """A MaxPool, AveragePool or LpPool."""
    window = prod(int(size) for size in job.node.required_attr("kernel_shape"))
    kind = "AveragePool" if job.node.op_type == "AveragePool" else "MaxPool"
    yield Piece(
        f"packed {kind}" if job.packed else kind, (count(job.node.y), window), guess=job.node.op_type == "LpPool"
    )


def global_pool(job: Job) -> Iterator[Piece]:
    """A global pool, average or of the largest."""
    dims = ints(job.node.x)
    kind = "packed GlobalAveragePool" if job.packed else "GlobalAveragePool"
    yield Piece(kind, (prod(dims[:2]), prod(dims[2:])), guess=job.node.op_type != "GlobalAveragePool")


def of_elements(kind: str, elements: float, length: float, *, guess: bool = False) -> Iterator[Piece]:
    """So many elements in rows of a length."""
    yield Piece(kind, (elements / max(1.0, length), length), guess=guess)

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
# Those of them that ONNX Runtime computes as fast; the others only resemble what was timed.
SAME = ("Sub", "Max", "Greater", "GreaterOrEqual", "LessOrEqual", "Or", "Xor", "Ceil", "Cos")
VARIADIC = ("Sum", "Max", "Min", "Mean")  # one operand after another is added to the result


def elementwise(job: Job) -> Iterator[Piece]:
    """One result for each element; an operand that has fewer is repeated."""
    kind = LIKE.get(job.kernel, job.kernel)
    guess = kind != job.kernel and job.kernel not in SAME
    made = count(job.node.y)
    operands = [ints(tensor) for tensor in job.node.inputs if tensor is not None]
    smaller = [dims for dims in operands if prod(dims) < made]
    if kind == "Clip" or not smaller or len(operands) == 1:
        more = len(operands) - 1 if job.kernel in VARIADIC else 1
        yield Piece(kind, (made,), max(1, more), guess or more > 1)
    elif kind == "Where":
        yield _where(operands, ints(job.node.y))
    elif all(prod(dims) == 1 for dims in smaller):
        yield _with_a_number(kind, made, guess)
    else:
        length = min(_repeated(dims, ints(job.node.y)) for dims in smaller if prod(dims) > 1)
        yield Piece("Add broadcast", (made / length, length), guess=guess or kind not in ("Add", "Mul"))


def _with_a_number(kind: str, made: int, guess: bool) -> Piece:
    """One operand is a single number. A power was timed as a square, and others take many times as long."""
    if kind == "Pow":
        return Piece("Pow scalar", (made,), guess=True)
    likely = kind in ("Add", "Mul", "Div", "Min", "Less", "Equal")
    return Piece(
        "Add scalar" if likely else kind, (made,), guess=guess or (likely and kind not in ("Add", "Mul", "Div"))
    )


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
    """One result for each element of one operand, under the name of the kernel; or a Gelu with a bias."""
    if job.kernel == "FastGelu" and job.node.input(1) is not None:
        yield from bias_gelu(job)
    else:
        yield Piece(job.kernel, (count(job.made),))


def bias_gelu(job: Job) -> Iterator[Piece]:
    """A Gelu with a bias."""
    *rows, length = ints(job.made) or (1,)
    yield Piece("BiasGelu", (prod(rows), length))


def normalization(job: Job) -> Iterator[Piece]:
    """A LayerNormalization or one like it, of the last axes."""
    dims = ints(job.node.x if len(job.group.places) == 1 else job.made)
    axis = int(job.node.attr("axis", -1)) if job.node.op_type.endswith("LayerNormalization") else -1
    length = tail(dims, axis % len(dims)) if dims else 1
    yield Piece(job.kernel, (prod(dims) / max(1, length), length))


def softmax(job: Job) -> Iterator[Piece]:
    """A Softmax; where it is not of the last axis, that is brought there and back."""
    dims = ints(job.node.x)
    old = job.node.version < 13
    axis = int(job.node.attr("axis", 1 if old else -1)) % max(1, len(dims))
    length = tail(dims, axis) if old else dims[axis] if dims else 1
    rows = prod(dims) / max(1, length)
    yield Piece("Softmax", (rows, length))
    if not old and prod(dims[axis + 1 :]) > 1:
        yield Piece("Transpose 2d", (rows, length), 2)


def reduction(job: Job) -> Iterator[Piece]:
    """A reduction of the last axes, or of others."""
    dims, made = ints(job.node.x), count(job.node.y)
    reduced = prod(dims) / max(1, made)
    kind = "ArgMax" if job.node.op_type.startswith("Arg") else "ReduceMean"
    if not _reduces(job):
        yield Piece("Neg", (made,), guess=True)
        return
    axes = _axes(job, len(dims))
    last = not axes or len(dims) - 1 in axes
    guess = job.node.op_type not in ("ReduceMean", "ReduceSum", "ReduceMax", "ArgMax")
    if last or kind == "ArgMax":
        yield Piece(kind, (made, reduced), guess=guess or not last)
    else:
        inner = 0 not in axes  # an axis in the middle was not timed
        yield Piece("ReduceMean first", (reduced, made), guess=guess or inner)


def _reduces(job: Job) -> bool:
    """Whether it reduces at all: without axes it may be asked to hand on what it reads."""
    axes = job.node.input(1)
    none = axes is None or axes.dims == (0,)
    return not (none and job.node.attr("noop_with_empty_axes", 0) and not job.node.attr("axes"))


def _axes(job: Job, rank: int) -> set[int]:
    """The axes that are reduced; none stands for all."""
    given = job.node.input(1)
    axes = job.node.attr("axes") or ([job.node.attr("axis", 0)] if job.node.op_type.startswith("Arg") else None)
    if given is not None and given.value is not None:
        axes = given.ints()
    return {int(axis) % rank for axis in axes or ()} if rank else set()


def batch_normalization(job: Job) -> Iterator[Piece]:
    """A BatchNormalization that is a kernel of its own."""
    yield Piece("BatchNormalization", (count(job.node.y),))


def instance_normalization(job: Job) -> Iterator[Piece]:
    """An InstanceNormalization, or one of groups of channels."""
    dims = ints(job.node.x)
    rows = (
        prod(dims[:2]) if job.node.op_type == "InstanceNormalization" else dims[0] * int(job.node.attr("num_groups", 1))
    )
    guess = job.node.op_type != "InstanceNormalization"  # the runtime has no kernel for groups, and writes them out
    yield Piece("InstanceNormalization", (rows, prod(dims) / max(1, rows)), guess=guess)


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

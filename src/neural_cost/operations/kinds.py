"""Which ONNX operator each kind of operation stands for, with which inputs and attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

from neural_cost.operations.record import Operation, Shape

INTEGERS = {8: "int64", 4: "int32", 2: "int16", 1: "int8"}
GATES = {"rnn": 1, "gru": 3, "lstm": 4}


class Part(NamedTuple):
    """An input: its shape, whether it is a weight (or else a constant that is data), and its type, if another."""

    shape: Shape
    weight: bool = False
    constant: bool = False
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """The node that an operation stands for; `op_type` is that of no operator for a custom one."""

    op_type: str
    inputs: Sequence[Part]
    output: Shape | None
    attributes: Mapping[str, Any] = field(default_factory=dict)


def stands_for(operation: Operation) -> Standing:
    """The node of an operation.

    Raises:
        OptionError: its shapes do not fit each other.
    """
    low, high = COUNTS.get(operation.kind, (0, None))
    shapes = operation.input_shapes
    if len(shapes) < low or (high is not None and len(shapes) > high):
        wanted = f"{low}" if low == high else f"{low} or more" if high is None else f"{low} to {high}"
        raise operation.refused(f"{operation.kind} has {wanted} input shapes, not {len(shapes)}")
    if operation.kind == "custom":
        output = None if operation.output_shape is None else tuple(operation.output_shape)
        return Standing(operation.op or "custom", _parts(operation, [tuple(shape) for shape in shapes]), output)
    return MAKERS[operation.kind](operation, [tuple(shape) for shape in shapes], tuple(operation.output_shape or ()))


COUNTS: Mapping[str, tuple[int, int | None]] = {
    "linear": (2, 3), "matmul": (2, 2), "conv2d": (2, 3), "embedding": (2, 2), "attention": (3, 4), "rnn": (3, 4),
    "lstm": (3, 4), "gru": (3, 4), "elementwise": (1, None), "softmax": (1, 1), "layernorm": (1, 3), "rmsnorm": (1, 2),
    "batchnorm": (5, 5), "pooling": (1, 1),
}  # fmt: skip
"""How many inputs each kind has, at least and at most."""


def _parts(operation: Operation, shapes: Sequence[Shape]) -> list[Part]:
    """Inputs of which the operation itself says what is a weight."""
    return [Part(shape, weight=place in operation.weights) for place, shape in enumerate(shapes)]


def _same(operation: Operation, what: str, found: Shape, *wanted: Shape) -> None:
    if found not in wanted:
        shapes = " or ".join(str(list(shape)) for shape in dict.fromkeys(wanted))
        raise operation.refused(f"its {what} is {list(found)} and should be {shapes}")


def _rank(operation: Operation, what: str, shape: Shape, *ranks: int) -> None:
    if len(shape) not in ranks:
        raise operation.refused(f"its {what} {list(shape)} should have {' or '.join(map(str, ranks))} axes")


def _linear(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    """Rows that a matrix multiplies: Gemm, which adds the bias at once."""
    x, weight, *bias = shapes
    if not x or not output:
        raise operation.refused("a linear operation has inputs and outputs of at least one axis")
    inner, outer = x[-1], output[-1]
    _same(operation, "output", output, (*x[:-1], outer))
    _same(operation, "weight", weight, (inner, outer), (outer, inner))
    for each in bias:
        _same(operation, "bias", each, (outer,))
    weights = [Part((inner, outer), weight=True), *(Part(each, weight=True) for each in bias)]
    return Standing("Gemm", [Part((prod(x[:-1]), inner)), *weights], (prod(x[:-1]), outer))


def _matmul(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    a, b = shapes
    if min(len(a), len(b)) < 2:
        raise operation.refused(f"matmul multiplies matrices, not {list(a)} and {list(b)}")
    _same(operation, "second input", b, (*b[:-2], a[-1], b[-1]))
    _same(operation, "output", output, (*_broadcast(operation, a[:-2], b[:-2]), a[-2], b[-1]))
    return Standing("MatMul", _parts(operation, shapes), output)


def _conv2d(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    x, weight, *bias = shapes
    for what, shape in (("input", x), ("weight", weight), ("output", output)):
        _rank(operation, what, shape, 4)
    groups = operation.groups or x[1] // max(weight[1], 1)
    _same(operation, "weight", weight, (output[1], x[1] // max(groups, 1), *weight[2:]))
    if not groups or x[1] % groups or weight[0] % groups:
        raise operation.refused(f"{x[1]} channels and {weight[0]} filters cannot be in {groups} groups")
    _same(operation, "output", output, (x[0], weight[0], *output[2:]))
    for each in bias:
        _same(operation, "bias", each, (weight[0],))
    attributes = _windows(operation, x[2:], output[2:], weight[2:]) | {"group": groups}
    return Standing("Conv", [Part(x), *(Part(each, weight=True) for each in (weight, *bias))], output, attributes)


def _windows(operation: Operation, source: Shape, target: Shape, kernel: Shape) -> dict[str, Any]:
    """Strides and dilations: where none are given, the least stride at which so many windows cover the input."""
    dilations = tuple(operation.dilations or (1,) * len(kernel))
    wide = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=False)]
    least = [max(0, of - by) // max(to, 1) + 1 for of, to, by in zip(source, target, wide, strict=False)]
    strides = tuple(operation.strides or least)
    if not len(source) == len(target) == len(kernel) == len(dilations) == len(strides):
        raise operation.refused(f"kernel, strides, dilations and output should have {len(source)} spatial axes each")
    if any(given < need for given, need in zip(strides, least, strict=True)):
        raise operation.refused(f"with strides of {list(strides)} the output would be larger than {list(target)}")
    most = [(of + by - 2) // stride + 1 for of, by, stride in zip(source, wide, strides, strict=True)]
    if any(to > limit for to, limit in zip(target, most, strict=True)):  # further windows would see padding alone
        raise operation.refused(f"{list(source)} has at most {most} windows of {list(kernel)}, not {list(target)}")
    return {"kernel_shape": list(kernel), "strides": list(strides), "dilations": list(dilations)}


def _embedding(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    positions, table = shapes
    _rank(operation, "table", table, 2)
    _same(operation, "output", output, (*positions, table[1]))
    if operation.index_bytes not in INTEGERS:
        raise operation.refused(f"index_bytes cannot be {operation.index_bytes}: it is one of 8, 4, 2, 1")
    taken = Part(positions, dtype=INTEGERS[operation.index_bytes])
    return Standing("Gather", [Part(table, weight=True), taken], output, {"axis": 0})


def _attention(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    query, key, value = map(list, shapes[:3])
    _rank(operation, "query", tuple(query), 3, 4)
    attributes: dict[str, Any] = {"is_causal": int(operation.causal)}
    if len(query) == 3:
        if operation.heads is None:
            raise operation.refused("attention over (batch, tokens, width) needs heads")
        attributes |= {"q_num_heads": operation.heads, "kv_num_heads": operation.kv_heads or operation.heads}
    q, k, v, y = (_by_head(operation, tuple(shape), place) for place, shape in enumerate((query, key, value, output)))
    if (k[0], k[3]) != (q[0], q[3]) or (v[0], v[1], v[2]) != (k[0], k[1], k[2]) or not k[1] or q[1] % k[1]:
        raise operation.refused("query, key and value should share their batch, and heads their width and tokens")
    _same(operation, "output", y, (q[0], q[1], q[2], v[3]))
    return Standing("Attention", [Part(tuple(shape)) for shape in shapes], output, attributes)


def _by_head(operation: Operation, shape: Shape, place: int) -> Shape:
    """A query, key, value or output as (batch, heads, tokens, width)."""
    if len(shape) == 4 and operation.heads in (None, shape[1]):
        return shape
    heads = operation.kv_heads or operation.heads if place in (1, 2) else operation.heads
    if len(shape) != 3 or not heads or shape[2] % heads:
        raise operation.refused(f"{list(shape)} cannot be in {heads} heads")
    return (shape[0], heads, shape[1], shape[2] // heads)


def _recurrent(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    x, *weights = shapes
    _rank(operation, "input", x, 3)
    gates = GATES[operation.kind]
    w, r, *bias = (
        shape if len(shape) == rank else (1, *shape) for shape, rank in zip(weights, (3, 3, 2), strict=False)
    )
    _rank(operation, "weight of the state", r, 3)
    directions, hidden = r[0], r[-1]
    _same(operation, "weight", w, (directions, gates * hidden, x[2]))
    _same(operation, "weight of the state", r, (directions, gates * hidden, hidden))
    for each in bias:
        _same(operation, "bias", each, (directions, 2 * gates * hidden))
    if directions not in (1, 2):
        raise operation.refused(f"a layer has one or two directions, not {directions}")
    states = directions * hidden
    if prod(output) not in (x[0] * x[1] * states, x[0] * states, x[1] * states):
        raise operation.refused(f"its output {list(output)} holds neither the states of all steps nor the last one")
    attributes: dict[str, Any] = {"direction": "bidirectional" if directions == 2 else "forward"}
    attributes |= {"activations": [operation.op] * directions} if operation.op else {}
    attributes |= {"linear_before_reset": 1} if operation.reset_after else {}
    parts = [Part(x), *(Part(each, weight=True) for each in (w, r, *bias))]
    return Standing(operation.kind.upper(), parts, output, attributes)


def _elementwise(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    from neural_cost.operations.costs import rule_of

    named = operation.op or ("Relu" if len(shapes) == 1 else "Sum")
    rule = rule_of(named)
    if rule is None or rule.kind != "elementwise":
        raise operation.refused(f"{named!r} is no elementwise operator of ONNX, as Gelu or Add; or make it custom")
    _same(operation, "output", output, _broadcast(operation, *shapes))
    return Standing(named, _parts(operation, shapes), output)


def _broadcast(operation: Operation, *shapes: Shape) -> Shape:
    import numpy as np

    try:
        return tuple(int(size) for size in np.broadcast_shapes(*shapes))
    except ValueError as error:
        raise operation.refused(f"{', '.join(str(list(shape)) for shape in shapes)} do not broadcast") from error


def _softmax(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    _same(operation, "output", output, shapes[0])
    return Standing("Softmax", [Part(shapes[0])], output)


def _norm(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    x, *affine = shapes
    _same(operation, "output", output, x)
    axis = operation.axis if operation.axis is not None else -len(affine[0]) if affine else -1
    if not -len(x) <= axis < len(x) or not x:
        raise operation.refused(f"{list(x)} has no axis {axis}")
    for each in affine:
        _same(operation, "scale or bias", each, x[axis:])
    named = "LayerNormalization" if operation.kind == "layernorm" else "RMSNormalization"
    return Standing(named, [Part(x), *(Part(each, weight=True) for each in affine)], output, {"axis": axis})


def _batchnorm(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    x, *channels = shapes
    if len(x) < 2:
        raise operation.refused(f"batchnorm has an input of (batch, channels, ...), not {list(x)}")
    _same(operation, "output", output, x)
    for each in channels:
        _same(operation, "scale, bias, mean or variance", each, (x[1],))
    scale, bias, mean, variance = channels
    parts = [Part(x), *(Part(each, weight=True) for each in (scale, bias))]
    return Standing("BatchNormalization", [*parts, *(Part(each, constant=True) for each in (mean, variance))], output)


def _pooling(operation: Operation, shapes: Sequence[Shape], output: Shape) -> Standing:
    (x,) = shapes
    if len(x) < 3:
        raise operation.refused(f"pooling has an input of (batch, channels, ...), not {list(x)}")
    _same(operation, "output", output, (*x[:2], *output[2:]))
    _rank(operation, "output", output, len(x))
    named = (operation.op or "MaxPool").removeprefix("Global")
    if named not in ("MaxPool", "AveragePool", "LpPool"):
        raise operation.refused(f"{operation.op!r} is no pooling operator: MaxPool, AveragePool or LpPool is")
    if operation.kernel is None:
        whole = set(output[2:]) <= {1}
        return Standing(f"Global{named}" if whole else named, [Part(x)], output)
    return Standing(named, [Part(x)], output, _windows(operation, x[2:], output[2:], tuple(operation.kernel)))


MAKERS: Mapping[str, Callable[[Operation, Sequence[Shape], Shape], Standing]] = {
    "linear": _linear, "matmul": _matmul, "conv2d": _conv2d, "embedding": _embedding, "attention": _attention,
    "rnn": _recurrent, "lstm": _recurrent, "gru": _recurrent, "elementwise": _elementwise, "softmax": _softmax,
    "layernorm": _norm, "rmsnorm": _norm, "batchnorm": _batchnorm, "pooling": _pooling,
}  # fmt: skip
"""What makes the node of each kind but custom."""

"""Shapes that contradict each other: what inference lets pass, and would become a wrong number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

import onnx_ir as ir

Shape = tuple[int, ...]
MAX_SIZE = 2**63 - 1  # of a dimension, and elements of a tensor: what the format can hold
MAX_RANK = 64  # where NumPy ends too; without an end, shapes could outgrow memory
DOMAINS = ("", "ai.onnx", "com.microsoft")


def contradiction(node: ir.Node) -> str | None:
    """Say what is wrong with the shapes of a node, or None. Shapes that are not known in numbers are not judged."""
    check = CHECKS.get(node.op_type) if node.domain in DOMAINS else None
    for value in node.outputs:
        if value.shape is not None and (wrong := _impossible(value, value.shape.dims)):
            return wrong
    if node.op_type in WINDOWS and (empty := _empty(node)) is not None:
        return empty
    if check is None:
        return None
    try:
        return check(node)
    except (IndexError, TypeError, ValueError):  # a node without the inputs or attributes that its operator wants
        return None


def numbers(value: ir.Value | None) -> Shape | None:
    """Shape of a value where all its dimensions are numbers."""
    if value is None or value.shape is None:
        return None
    dims = value.shape.dims
    known = tuple(dim for dim in dims if isinstance(dim, int))
    return known if len(known) == len(dims) else None


def _empty(node: ir.Node) -> str | None:
    """A window needs to fit once; where it does not, runtimes refuse it, or round the other way."""
    x, y = numbers(node.inputs[0]) if node.inputs else None, numbers(node.outputs[0]) if node.outputs else None
    if x is None or y is None or 0 not in y or 0 in x:
        return None
    return f"its window is larger than its input {list(x)}"


def _impossible(value: ir.Value, dims: Sequence[int | ir.SymbolicDim]) -> str | None:
    """What no tensor can have: a size below 0 or beyond 64 bits, or a great many dimensions."""
    if len(dims) > MAX_RANK:
        return f'its output "{value.name}" would have {len(dims)} dimensions, and at most {MAX_RANK} are known here'
    elements = 1
    for dim in dims:
        if isinstance(dim, int):
            elements *= dim
            if dim < 0 or dim > MAX_SIZE:
                break
    else:
        if elements <= MAX_SIZE:
            return None
    reason = "the input is too small for it" if _is_negative(dims) else "no tensor is as large"
    return f'its output "{value.name}" would have the shape {_text(value)}: {reason}'


def _is_negative(dims: Sequence[int | ir.SymbolicDim]) -> bool:
    return any(isinstance(dim, int) and dim < 0 for dim in dims)


def _text(value: ir.Value) -> str:
    return "x".join(str(dim) for dim in value.shape or ())


def _reshape(node: ir.Node) -> str | None:
    before, after = numbers(node.inputs[0]), numbers(node.outputs[0])
    if before is None or after is None or prod(before) == prod(after):
        return None
    return f"it turns {prod(before)} elements {list(before)} into {prod(after)} {list(after)}"


def _matmul(node: ir.Node) -> str | None:
    left, right = numbers(node.inputs[0]), numbers(node.inputs[1])
    if not left or not right:
        return None
    inner = right[-2] if len(right) > 1 else right[0]
    if left[-1] != inner:
        return f"its inner dimensions differ: {list(left)} by {list(right)}"
    return _not_broadcasting(left[:-2], right[:-2])


def _gemm(node: ir.Node) -> str | None:
    left, right = numbers(node.inputs[0]), numbers(node.inputs[1])
    if left is None or right is None or len(left) != 2 or len(right) != 2:
        return None
    inner_left = left[0 if _int(node, "transA") else 1]
    inner_right = right[1 if _int(node, "transB") else 0]
    return None if inner_left == inner_right else f"its inner dimensions differ: {list(left)} by {list(right)}"


def _conv(node: ir.Node) -> str | None:
    x, weight = numbers(node.inputs[0]), numbers(node.inputs[1])
    if x is None or weight is None or len(x) < 3 or len(weight) < 2:
        return None
    wanted = weight[1] * (_int(node, "group") or 1)
    return None if x[1] == wanted else f"its input {list(x)} has {x[1]} channels and its weights want {wanted}"


def _conv_transpose(node: ir.Node) -> str | None:
    x, weight = numbers(node.inputs[0]), numbers(node.inputs[1])
    if x is None or weight is None or len(x) < 3:
        return None
    return None if x[1] == weight[0] else f"its input has {x[1]} channels and its weights want {weight[0]}"


def _broadcast(node: ir.Node) -> str | None:
    if "broadcast" in node.attributes or "axis" in node.attributes:
        return None  # opset 1-6 forms align differently
    return _not_broadcasting(*(shape for value in node.inputs if (shape := numbers(value)) is not None))


def _not_broadcasting(*shapes: Shape) -> str | None:
    for axis in range(1, max((len(shape) for shape in shapes), default=0) + 1):
        sizes = {shape[-axis] for shape in shapes if len(shape) >= axis} - {1}
        if len(sizes) > 1:
            return "its inputs do not broadcast: " + " with ".join(str(list(shape)) for shape in shapes)
    return None


def _onto_first(node: ir.Node) -> str | None:
    """Other inputs broadcast onto the first, which keeps its shape."""
    shapes = [shape for value in node.inputs if (shape := numbers(value)) is not None]
    wrong = _not_broadcasting(*shapes)
    if wrong is None and numbers(node.inputs[0]) is not None and any(not _fits_onto(s, shapes[0]) for s in shapes[1:]):
        return "its inputs do not fit the first: " + " with ".join(str(list(shape)) for shape in shapes)
    return wrong


def _fits_onto(shape: Shape, target: Shape) -> bool:
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(dim in (1, other) for dim, other in pairs)


def _per_channel(node: ir.Node) -> str | None:
    """Scale, bias and statistics have one element for each channel."""
    x = numbers(node.inputs[0])
    for value in node.inputs[1:]:
        other = numbers(value)
        if x is not None and len(x) > 1 and other is not None and len(other) == 1 and other[0] != x[1]:
            return f"its input {list(x)} has {x[1]} channels and {value.name if value else ''} has {other[0]}"
    return None


def _recurrent(node: ir.Node) -> str | None:
    x, weight = numbers(node.inputs[0]), numbers(node.inputs[1])
    if x is None or weight is None or len(x) != 3 or len(weight) != 3 or x[2] == weight[2]:
        return None
    return f"its input {list(x)} has {x[2]} features and its weights want {weight[2]}"


def _split(node: ir.Node) -> str | None:
    x, parts = numbers(node.inputs[0]), [numbers(value) for value in node.outputs if value.name]
    if (
        not x
        or not parts
        or any(part is None or len(part) != len(x) for part in parts)
        or len(parts) != len(node.outputs)
    ):
        return None
    axis = _int(node, "axis") % len(x)
    total = sum(part[axis] for part in parts if part is not None)
    return (
        None if total == x[axis] else f"its parts have {total} along axis {axis}, and its input {list(x)} has {x[axis]}"
    )


def _concat(node: ir.Node) -> str | None:
    shapes = [shape for value in node.inputs if (shape := numbers(value)) is not None]
    if not shapes:
        return None
    axis = _int(node, "axis", 1) % max(len(shapes[0]), 1)
    rests = {tuple(dim for i, dim in enumerate(shape) if i != axis) for shape in shapes}
    return None if len(rests) == 1 else "its inputs do not fit: " + " with ".join(str(list(s)) for s in shapes)


def _int(node: ir.Node, name: str, default: int = 0) -> int:
    attr = node.attributes.get(name)
    return attr.as_int() if attr is not None else default


BROADCASTING = (
    "Add", "Sub", "Mul", "Div", "Mod", "Pow", "Where", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual",
    "And", "Or", "Xor", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Max", "Min", "Sum", "Mean",
)  # fmt: skip
WINDOWS = {
    "Conv", "ConvInteger", "QLinearConv", "FusedConv", "NhwcConv", "NhwcFusedConv", "DeformConv", "STFT",
    "MaxPool", "AveragePool", "LpPool", "QLinearAveragePool", "NhwcMaxPool",
}  # fmt: skip
CHECKS: Mapping[str, Callable[[ir.Node], str | None]] = {
    "Reshape": _reshape,
    "MatMul": _matmul,
    "MatMulInteger": _matmul,
    "Gemm": _gemm,
    "Conv": _conv,
    "ConvInteger": _conv,
    "FusedConv": _conv,
    "ConvTranspose": _conv_transpose,
    "Concat": _concat,
    "Split": _split,
    **dict.fromkeys(("PRelu", "LayerNormalization", "RMSNormalization"), _onto_first),
    "BatchNormalization": _per_channel,
    "InstanceNormalization": _per_channel,
    **dict.fromkeys(("RNN", "GRU", "LSTM"), _recurrent),
    **dict.fromkeys(BROADCASTING, _broadcast),
}

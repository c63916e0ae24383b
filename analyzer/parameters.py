"""Which constants are parameters: weights that work on data, not shapes, scales, statistics or scalars."""

from __future__ import annotations

from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.walk import NodeCost

# Inputs that are never weights: running statistics, exponents, limits, scales and zero points.
OTHER = {
    "BatchNormalization": {3, 4}, "Pow": {1}, "Clip": {1, 2}, "Pad": {2}, "Resize": {1, 2}, "Expand": {0},
    "Range": {0, 1, 2},
    "OneHot": {1, 2}, "QuantizeLinear": {1, 2}, "DequantizeLinear": {1, 2}, "QLinearConv": {1, 2, 4, 5, 6, 7},
    "QLinearMatMul": {1, 2, 4, 5, 6, 7}, "MatMulInteger": {2, 3}, "ConvInteger": {2, 3}, "MatMulNBits": {2, 3},
    "DynamicQuantizeLSTM": {8, 9, 10, 11},
}  # fmt: skip
INTEGER_WEIGHTS = {
    "MatMulInteger", "ConvInteger", "QLinearConv", "QLinearMatMul", "DequantizeLinear", "MatMulNBits",
    "DynamicQuantizeLSTM",
}  # fmt: skip


def parameters(nodes: list[NodeCost]) -> dict[str, Tensor]:
    """Weights by name, each once however often it is used."""
    found: dict[str, Tensor] = {}
    for each in nodes:
        if each.constant:
            continue
        op = each.node.op_type
        for position, tensor in enumerate(each.node.inputs):
            if tensor is not None and tensor.constant and position not in OTHER.get(op, ()) and _is_weight(op, tensor):
                found.setdefault(tensor.name, tensor)
    return found


def _is_weight(op: str, tensor: Tensor) -> bool:
    if tensor.dims is None or tensor.dtype is None:
        return False
    number = tensor.dtype.startswith(("float", "bfloat"))
    scalar = tensor.size == 1 and op in ("Add", "Sub", "Mul", "Div", "Where", "Max", "Min", "Equal", "Less", "Greater")
    return not scalar and tensor.rank > 0 and (number or op in INTEGER_WEIGHTS)

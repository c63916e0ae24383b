"""Quantizing and dequantizing: the work around integer contractions, which `quantized_contraction` has.

The arithmetic runs in the floating-point type of the scale. Blocked, per-axis and per-tensor forms do the same work
for each element. Traffic is the default: packed bytes of the integers, scales and zero points once.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.activations import PRECISIONS, PerElement
from neural_cost.analyzer.rules.registry import cost

CLAMP_AND_CONVERT = PerElement(3)
"""To the range of the narrower type, and into it."""


@cost("QuantizeLinear")
@cost("QuantizeLinear", "QuantizeWithOrder", domain="com.microsoft")
def quantize_linear(node: Node) -> Cost:
    """Cost saturate(round(x / scale) + zero): divide, round, add where there is a zero point, clamp, convert.

    To a floating-point type the convert rounds, and without `saturate` nothing is clamped. An order of the matrix in
    memory changes no count.
    """
    scale = node.required(1)
    to_float = (node.y.dtype or "").startswith("float")
    if to_float:
        element = PerElement(2, 1) + PerElement(2 if node.attr("saturate", 1) else 0)
    else:
        element = PerElement(2, 1) + CLAMP_AND_CONVERT
    flops = element.flops + (1 if node.input(2) else 0)
    kind = PRECISIONS.get(node.attr("precision", 0), scale.dtype)
    size = node.y.size
    return node.cost(other_flops=size * flops, special_ops=size * element.special, compute_type=kind)


@cost("DequantizeLinear")
@cost("DequantizeLinear", "DequantizeWithOrder", domain="com.microsoft")
def dequantize_linear(node: Node) -> Cost:
    """Cost (x - zero) * scale: convert, subtract where there is a zero point, multiply."""
    flops = 3 if node.input(2) else 2
    return node.cost(other_flops=node.y.size * flops, compute_type=node.y.dtype)


@cost("DynamicQuantizeLinear")
def dynamic_quantize_linear(node: Node) -> Cost:
    """Cost finding the range of x and quantizing with it.

    Each element: max, min, then divide, round, add, clamp, convert. Once: the range reaches 0 (max, min), its
    width (subtract, divide), the zero point (divide, subtract, clamp, round, convert).
    """
    size = node.x.size
    return node.cost(other_flops=size * 8 + 10, special_ops=size + 2)


@cost("QuantizeBFP", "DequantizeBFP", domain="com.microsoft")
def block_floating_point(node: Node) -> Cost:
    """Answer that it is unknown: the formats of block floating point are not part of the operator's definition."""
    raise Unknown(f"{node.op_type} does not define its formats")

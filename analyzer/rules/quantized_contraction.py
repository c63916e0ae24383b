"""Contractions of quantized data: integer MACs under the type of the first data operand, floats around them.

A zero point is subtracted from each element of its operand, once, in int32 or in the type of the rescaling.
Traffic is the default: integers in their packed bytes, scales and zero points once.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.registry import cost

REQUANTIZE = 7
"""FLOPs of an accumulator that becomes quantized output: convert, scale, round, add zero point, clamp, convert."""


def centred(*operands: tuple[Tensor, Tensor | None]) -> Dim:
    """Count the subtracts of zero points, one for each element of an operand that has one."""
    return sum((data.size for data, zero in operands if zero is not None), 0)


@cost("MatMulInteger")
def matmul_integer(node: Node) -> Cost:
    """Cost an integer matrix product into int32, zero points subtracted from each operand."""
    a, b = node.x, node.required(1)
    subtracts = centred((a, node.input(2)), (b, node.input(3)))
    return node.cost(macs=node.y.size * a.shape[-1], other_flops=subtracts, other_type="int32")


@cost("ConvInteger")
def conv_integer(node: Node) -> Cost:
    """Cost an integer convolution into int32, zero points subtracted from each operand."""
    x, weight = node.x, node.required(1)
    subtracts = centred((x, node.input(2)), (weight, node.input(3)))
    return node.cost(macs=node.y.size * prod(weight.shape[1:]), other_flops=subtracts, other_type="int32")


@cost("QLinearMatMul")
def qlinear_matmul(node: Node) -> Cost:
    """Cost a matrix product of quantized operands into a quantized one.

    Both operands are centred. The scales become a_scale * b_scale / y_scale (multiply, divide) for each pair of
    them; where both operands have many, an output element is instead multiplied by each of the two, and each
    a_scale divided by y_scale.
    """
    a, b = node.x, node.required(3)
    a_scale, b_scale = node.required(1), node.required(4)
    flops = centred((a, node.input(2)), (b, node.input(5)))
    if a_scale.size == 1 or b_scale.size == 1:
        return _requantized(node, node.y.size * a.shape[-1], flops, scales=a_scale.size * b_scale.size)
    return node.cost(
        macs=node.y.size * a.shape[-1],
        other_flops=flops + a_scale.size + node.y.size * (REQUANTIZE + 1),
        special_ops=a_scale.size,
        other_type=a_scale.dtype,
    )


@cost("QLinearConv")
def qlinear_conv(node: Node) -> Cost:
    """Cost a convolution of quantized operands into a quantized one; a bias is int32, in the accumulator's scale."""
    x, weight, scale = node.x, node.required(3), node.required(4)
    bias = node.y.size if node.input(8) else 0
    subtracts = centred((x, node.input(2)), (weight, node.input(5)))
    return _requantized(node, node.y.size * prod(weight.shape[1:]), subtracts + bias, scales=scale.size)


def _requantized(node: Node, macs: Dim, other_flops: Dim, scales: Dim) -> Cost:
    """Cost an integer contraction with its output quantized: each scale is one multiply and one divide."""
    return node.cost(
        macs=macs,
        other_flops=other_flops + 2 * scales + node.y.size * REQUANTIZE,
        special_ops=scales,
        other_type=node.required(1).dtype,
    )

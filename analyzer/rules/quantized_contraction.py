"""Contractions of quantized data: integer MACs under the type of the first data operand, floats around them.

A zero point is subtracted from each element of its operand, once, in int32 or in the type of the rescaling.
Traffic is the default: integers in their packed bytes, scales and zero points once.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import PerElement, then
from neural_cost.analyzer.rules.convolution import covered_read
from neural_cost.analyzer.rules.registry import cost

REQUANTIZE = 7
"""FLOPs of an accumulator that becomes quantized output: convert, scale, round, add zero point, clamp, convert."""


DYNAMIC_QUANTIZE = PerElement(8, 1)
"""A float to uint8 in the range of its tensor: max, min, divide, round, add zero point, clamp, convert."""


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
    return node.cost(
        macs=node.y.size * prod(weight.shape[1:]),
        other_flops=subtracts,
        other_type="int32",
        read_bytes=covered_read(node, weight),
    )


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
@cost("QLinearConv", domain="com.microsoft")
@cost("QLinearConv", domain="com.ms.internal.nhwc")
def qlinear_conv(node: Node) -> Cost:
    """Cost a convolution of quantized operands into a quantized one; a bias is int32, in the accumulator's scale."""
    x, weight, scale = node.x, node.required(3), node.required(4)
    bias = node.y.size if node.input(8) else 0
    subtracts = centred((x, node.input(2)), (weight, node.input(5)))
    read = (
        None if node.attr("channels_last", 0) or node.domain == "com.ms.internal.nhwc" else covered_read(node, weight)
    )
    return _requantized(
        node, node.y.size * prod(weight.shape[1:]), subtracts + bias, scales=scale.size, read_bytes=read
    )


def _requantized(node: Node, macs: Dim, other_flops: Dim, scales: Dim, read_bytes: Dim | None = None) -> Cost:
    """Cost an integer contraction with its output quantized: each scale is one multiply and one divide."""
    return node.cost(
        macs=macs,
        other_flops=other_flops + 2 * scales + node.y.size * REQUANTIZE,
        special_ops=scales,
        other_type=node.required(1).dtype,
        read_bytes=read_bytes,
    )


@cost("QLinearConvTranspose", domain="com.ms.internal.nhwc")
def qlinear_conv_transpose(node: Node) -> Cost:
    """Cost a transposed convolution of quantized operands, with the inputs of QLinearConv."""
    x, weight = node.x, node.required(3)
    bias = node.y.size if node.input(8) else 0
    subtracts = centred((x, node.input(2)), (weight, node.input(5)))
    return _requantized(node, x.size * prod(weight.shape[1:]), subtracts + bias, scales=node.required(4).size)


@cost("DynamicQuantizeMatMul", domain="com.microsoft")
def dynamic_quantize_matmul(node: Node) -> Cost:
    """Cost a product of A, quantized to uint8 in its own range, with integers B, into floats.

    As DynamicQuantizeLinear, then MatMulInteger, then convert, multiply by the product of the scales, add a bias.
    """
    a, scale = node.x, node.required(2)
    result = node.cost(
        macs=node.y.size * a.shape[-1],
        other_flops=10 + a.size + centred((node.required(1), node.input(3))) + scale.size,
        special_ops=2,
        compute_type="int8",
        other_type=a.dtype,
    )
    rescale = PerElement(2 + (node.input(4) is not None))
    return then(then(result, DYNAMIC_QUANTIZE, a.size), rescale, node.y.size)


@cost("MatMulIntegerToFloat", domain="com.microsoft")
def matmul_integer_to_float(node: Node) -> Cost:
    """Cost an integer product into floats: convert, multiply by the product of the scales, add a bias.

    Where both operands have many scales, an output element is multiplied by each of the two instead.
    """
    a, a_scale, b_scale = node.x, node.required(2), node.required(3)
    one_scale = a_scale.size == 1 or b_scale.size == 1
    result = node.cost(
        macs=node.y.size * a.shape[-1],
        other_flops=centred((a, node.input(4)), (node.required(1), node.input(5)))
        + (a_scale.size * b_scale.size if one_scale else 0),
        other_type=a_scale.dtype,
    )
    return then(result, PerElement((2 if one_scale else 3) + (node.input(6) is not None)), node.y.size)


@cost("QGemm", domain="com.microsoft")
def qgemm(node: Node) -> Cost:
    """Cost a quantized Gemm: C is int32, in the accumulator's scale; without a scale for Y the output is float.

    Each scale of B is multiplied by that of A (and by alpha where it is not 1), and divided by that of Y.
    """
    a, b, scale = node.x, node.required(3), node.required(4)
    inner = a.shape[0 if node.attr("transA", 0) else 1]
    quantized = node.input(7) is not None
    scaled = PerElement(1 + (node.attr("alpha", 1.0) != 1.0))
    divided = PerElement(1, 1) if quantized else PerElement(0)
    result = node.cost(
        macs=node.y.size * inner,
        other_flops=centred((a, node.input(2)), (b, node.input(5))),
        other_type=node.required(1).dtype,
    )
    output = PerElement((REQUANTIZE if quantized else 2) + (node.input(6) is not None))
    return then(then(result, scaled + divided, scale.size), output, node.y.size)


@cost("QOrderedMatMul", domain="com.microsoft")
def qordered_matmul(node: Node) -> Cost:
    """Cost a product of int8 matrices, plus a bias or an int8 C, into int8, with no zero points.

    Each scale of B: multiplied by that of A, divided by that of Y. A bias is divided by the scale of Y. The scale of
    C is divided by that of Y. An output element: convert, scale, bias (one add), C (convert, multiply, add), round,
    clamp, convert.
    """
    scale, bias, added = node.required(3), node.input(5), node.input(6)
    divided = (bias.size if bias else 0) + (1 if added else 0)
    result = node.cost(
        macs=node.y.size * node.x.shape[-1],
        other_flops=divided,
        special_ops=divided,
        other_type=node.required(1).dtype,
    )
    output = PerElement(REQUANTIZE - 1 + (1 if bias else 0) + (3 if added else 0))
    return then(then(result, PerElement(2, 1), scale.size), output, node.y.size)

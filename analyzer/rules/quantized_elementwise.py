"""Quantized operators of com.microsoft that are no contractions: dequantize, do it in floating point, quantize.

A kernel may use a table of 256 results, or fold scales; the count is the definition's. Inputs are dequantized once,
each output is quantized once, in the type of the scales.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import ACTIVATIONS, SOFTMAX, PerElement
from neural_cost.analyzer.rules.elementwise import ONE, SPECIAL, per_element
from neural_cost.analyzer.rules.indexing import partial_read
from neural_cost.analyzer.rules.quantization import CLAMP_AND_CONVERT
from neural_cost.analyzer.rules.registry import CostRule, cost
from neural_cost.analyzer.rules.windows import elements_read

DOMAIN = "com.microsoft"


def dequantize(zero: Tensor | None) -> PerElement:
    """Work of (x - zero) * scale: convert, subtract where there is a zero point, multiply."""
    return PerElement(3 if zero else 2)


def quantize(zero: Tensor | None) -> PerElement:
    """Work of round(x / scale) + zero: divide, round, add where there is a zero point, clamp, convert."""
    return PerElement(2, 1) + CLAMP_AND_CONVERT + PerElement(1 if zero else 0)


def _sum(node: Node, *parts: tuple[Dim, PerElement], read_bytes: Dim | None = None) -> Cost:
    """Cost so many elements of each kind of work."""
    return node.cost(
        other_flops=sum((count * work.flops for count, work in parts), 0),
        special_ops=sum((count * work.special for count, work in parts), 0),
        read_bytes=read_bytes,
        other_type="float32",
    )


def _unary(work: PerElement) -> CostRule:
    """Make the rule of a function of one input: x, its scale and zero point, the output's scale and zero point."""

    def rule(node: Node) -> Cost:
        x, out = dequantize(node.input(2)), quantize(node.input(4))
        return _sum(node, (node.x.size, x), (node.y.size, work + out))

    return rule


def _binary(work: PerElement) -> CostRule:
    """Make the rule of a function of two inputs, each with scale and zero point, as the output has."""

    def rule(node: Node) -> Cost:
        a, b, out = dequantize(node.input(2)), dequantize(node.input(5)), quantize(node.input(7))
        return _sum(node, (node.x.size, a), (node.required(3).size, b), (node.y.size, work + out))

    return rule


cost("QLinearSigmoid", domain=DOMAIN)(_unary(ACTIVATIONS["sigmoid"]))
cost("QLinearLeakyRelu", domain=DOMAIN)(_unary(ACTIVATIONS["leakyrelu"]))
cost("QLinearSoftmax", domain=DOMAIN)(_unary(SOFTMAX))
cost("QLinearAdd", "QLinearMul", domain=DOMAIN)(_binary(ONE))


@cost("QLinearConcat", domain=DOMAIN)
def quantized_concat(node: Node) -> Cost:
    """Cost dequantizing and quantizing each element: every input has a scale of its own."""
    out = quantize(node.input(1))
    starts = range(2, len(node.inputs), 3)
    inputs = [(node.required(start).size, dequantize(node.input(start + 2))) for start in starts]
    return _sum(node, *inputs, (node.y.size, out))


@cost("QLinearWhere", domain=DOMAIN)
def quantized_where(node: Node) -> Cost:
    """Cost dequantizing both inputs, and quantizing what is chosen."""
    x, y, out = dequantize(node.input(3)), dequantize(node.input(6)), quantize(node.input(8))
    return _sum(node, (node.required(1).size, x), (node.required(4).size, y), (node.y.size, out))


@cost("QLinearReduceMean", domain=DOMAIN)
def quantized_reduce_mean(node: Node) -> Cost:
    """Cost an add for each input element and a division for each output element."""
    x, out = dequantize(node.input(2)), quantize(node.input(4))
    return _sum(node, (node.x.size, x + ONE), (node.y.size, SPECIAL + out))


@cost("QLinearGlobalAveragePool", domain=DOMAIN)
def quantized_global_average_pool(node: Node) -> Cost:
    """Cost an add for each input element and a division for each output element, in either layout."""
    return quantized_reduce_mean(node)


@cost("QLinearAveragePool", domain=DOMAIN)
def quantized_average_pool(node: Node) -> Cost:
    """Cost an add for each tap and a division for each output element; elements that are read are dequantized."""
    x, out = dequantize(node.input(2)), quantize(node.input(4))
    read = elements_read(
        node, node.x, node.y, node.required_attr("kernel_shape"), first=1 if node.attr("channels_last", 0) else 2
    )
    taps = PerElement(prod(node.required_attr("kernel_shape")))
    return _sum(node, (read, x), (node.y.size, taps + SPECIAL + out), read_bytes=partial_read(node, read))


@cost("QOrderedGelu", domain=DOMAIN)
def quantized_gelu(node: Node) -> Cost:
    """Cost a Gelu between scales, without zero points."""
    return per_element(node, dequantize(None) + ACTIVATIONS["gelu"] + quantize(None), other_type="float32")


@cost("MulInteger", domain=DOMAIN)
def mul_integer(node: Node) -> Cost:
    """Cost an integer product, and a subtract for each element of an input that has a zero point."""
    a = node.x.size if node.input(1) else 0
    b = node.required(2).size if node.input(3) else 0
    return node.cost(other_flops=node.y.size + a + b, other_type=node.y.dtype)


@cost("ReduceSumInteger", domain=DOMAIN)
def reduce_sum_integer(node: Node) -> Cost:
    """Cost an integer add for each input element."""
    return node.cost(other_flops=node.x.size, other_type=node.y.dtype)

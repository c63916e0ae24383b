"""Matrix products with quantized weights and activations as they are: weight-only quantization.

MACs are those of the logical K x N matrix, in the activation's type; traffic moves the packed bytes. Each weight is
decoded once: with a zero point, convert, subtract, multiply by the scale; without, convert, multiply. A convert takes
a packed code to the activation's type, whatever the code.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import PerElement, activation, then
from neural_cost.analyzer.rules.normalization import affine, divide_by_rms
from neural_cost.analyzer.rules.registry import cost

DECODE = PerElement(2)
DECODE_WITH_ZERO_POINT = PerElement(3)


def bias_of(node: Node, *positions: int) -> PerElement:
    """Count one add for each bias that is there."""
    return PerElement(sum(node.input(position) is not None for position in positions))


@cost("MatMulNBits", domain="com.microsoft")
def matmul_nbits(node: Node) -> Cost:
    """Cost a product with an N x K weight of 2 to 8 bits, whose zero point is 2^(bits-1) where none is given.

    A weight with no elements stands for a projection that is left out: the output is zeros, or the bias.
    """
    inner, outer = node.required_attr("K"), node.required_attr("N")
    if node.required(1).size == 0:
        return node.cost()
    product = then(node.cost(macs=node.y.size * inner), DECODE_WITH_ZERO_POINT, inner * outer)
    return then(product, bias_of(node, 5), node.y.size)


@cost("MatMulNBitsMlp", domain="com.microsoft")
def matmul_nbits_mlp(node: Node) -> Cost:
    """Cost activation(A gate) * (A up) with two N x K weights, after a normalization where there is a scale for it."""
    inner, outer = node.required_attr("K"), node.required_attr("N")
    product = _normalized(node, macs=2 * node.y.size * inner)
    product = then(product, DECODE_WITH_ZERO_POINT, 2 * inner * outer)
    gated = activation(node.attr("activation", "")) + PerElement(1)
    return then(product, bias_of(node, 5, 8) + gated, node.y.size)


@cost("MatMulNBitsQkv", domain="com.microsoft")
def matmul_nbits_qkv(node: Node) -> Cost:
    """Cost three products with the same normalized input: K x Nq, and twice K x Nkv."""
    inner, query, key = node.required_attr("K"), node.required_attr("Nq"), node.required_attr("Nkv")
    rows = prod(node.x.shape[:-1])
    product = _normalized(node, macs=rows * inner * (query + 2 * key))
    product = then(product, DECODE_WITH_ZERO_POINT, inner * (query + 2 * key))
    product = then(product, bias_of(node, 5), rows * query)
    return then(product, bias_of(node, 8, 11), rows * key)


def _normalized(node: Node, macs: Dim) -> Cost:
    """Start a cost with the RMS normalization of A and the skip that is added to it, where inputs 2 and 1 say so."""
    skip = node.x.size if node.input(1) else 0
    if node.input(2) is None:
        return node.cost(macs=macs, other_flops=skip)
    rms = divide_by_rms(node.x.size, prod(node.x.shape[:-1]))
    return node.cost(
        macs=macs,
        other_flops=skip + rms.flops + affine(node.x.size, node.input(2)),
        special_ops=rms.special,
    )


@cost("MatMulNBitsQLoRA", domain="com.microsoft")
def matmul_nbits_qlora(node: Node) -> Cost:
    """Cost a product with an N x K weight plus an adapter of rank R: K x R, then R x N, then one add.

    An empty up weight leaves the adapter out, an empty down weight only its own product.
    """
    inner, outer = node.required_attr("K"), node.required_attr("N")
    down, up, rank = node.required(3), node.required(5), node.required(4).shape[0]
    weights, macs = inner * outer, node.y.size * inner
    if up.size == 0:
        return then(node.cost(macs=macs), DECODE_WITH_ZERO_POINT, weights)
    if down.size != 0:
        weights, macs = weights + inner * rank, macs + node.x.size * rank
    product = node.cost(macs=macs + node.y.size * rank, other_flops=node.y.size)
    return then(product, DECODE_WITH_ZERO_POINT, weights + rank * outer)


@cost("MatMulBnb4", domain="com.microsoft")
def matmul_bnb4(node: Node) -> Cost:
    """Cost a product with a weight of FP4 or NF4, in either direction: a code is looked up and multiplied by absmax."""
    weights = node.required_attr("K") * node.required_attr("N")
    return then(node.cost(macs=node.y.size * node.x.shape[-1]), PerElement(1), weights)


@cost("MatMulFpQ4", domain="com.microsoft")
def matmul_fp_q4(node: Node) -> Cost:
    """Cost a product with a blob of int4; quantization type 1 has an offset, which is subtracted."""
    decode = DECODE_WITH_ZERO_POINT if node.attr("blk_quant_type", 1) == 1 else DECODE
    inner, outer = node.x.shape[-1], node.y.shape[-1]
    return then(node.cost(macs=node.y.size * inner), decode, inner * outer)


@cost("MatMulBlockQuantizedFp4Weight", domain="com.microsoft")
def matmul_fp4_weight(node: Node) -> Cost:
    """Cost a product with an N x K weight of float4: a block's scale is converted and times the global one."""
    weight, scales = node.required(1), node.required(2)
    inner, outer = 2 * weight.shape[1], weight.shape[0]
    product = then(node.cost(macs=node.y.size * inner), DECODE, inner * outer + scales.size)
    return then(product, bias_of(node, 5), node.y.size)


@cost("MatMulBlockQuantizedFp8Weight", domain="com.microsoft")
def matmul_fp8_weight(node: Node) -> Cost:
    """Cost a product with an N x K weight of float8.

    With a scale for A, each of its elements takes the way through float8: divide, clamp, convert; convert, multiply.
    """
    weight = node.required(1)
    through_float8 = PerElement(6, 1) if node.input(3) else PerElement(0)
    product = then(node.cost(macs=node.y.size * weight.shape[1]), DECODE, weight.size)
    return then(then(product, through_float8, node.x.size), bias_of(node, 4), node.y.size)


@cost("MatMulPacked", domain="com.microsoft")
def matmul_packed(node: Node) -> Cost:
    """Cost a product with an N x K weight in a packed format, the global scale, then an activation."""
    global_scale: Tensor | None = node.input(2)
    product = then(
        node.cost(macs=node.y.size * node.required_attr("K")), DECODE, node.required_attr("K") * node.required_attr("N")
    )
    scaled = PerElement(1 if global_scale else 0)
    return then(product, scaled + activation(node.attr("activation_type", "none")), node.y.size)

"""Matrix products of ONNX Runtime, fused with what follows. Traffic is the default: operands once, output once."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, prod
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.activations import PerElement, activation, gated_swish, then
from neural_cost.analyzer.rules.contraction import gemm
from neural_cost.analyzer.rules.normalization import affine, divide_by_rms
from neural_cost.analyzer.rules.registry import cost


@cost("FusedMatMul", "TransposeMatMul", "FusedMatMulActivation", domain="com.microsoft")
def fused_matmul(node: Node) -> Cost:
    """Cost alpha * A' * B', then an activation. An alpha of 1 multiplies nothing.

    `transBatchA` moves the first axis of A before the last, `transA` then swaps the last two: the inner dimension is
    the last axis, the one before it, or with both the first.
    """
    a = node.x
    swapped = node.attr("transA", 0) and a.rank > 1
    inner = a.shape[0 if node.attr("transBatchA", 0) else -2] if swapped else a.shape[-1]
    scaled = PerElement(1 if node.attr("alpha", 1.0) != 1.0 else 0)
    return then(node.cost(macs=node.y.size * inner), scaled + activation(node.attr("activation", "")), node.y.size)


@cost("FusedGemm", domain="com.microsoft")
def fused_gemm(node: Node) -> Cost:
    """Cost a Gemm, then its activation."""
    return then(gemm(node), activation(node.attr("activation", "")), node.y.size)


@cost("GemmFastGelu", domain="com.microsoft")
def gemm_fast_gelu(node: Node) -> Cost:
    """Cost a matrix product, its bias, then the Gelu with tanh."""
    bias = PerElement(1 if node.input(2) else 0)
    return then(node.cost(macs=node.y.size * node.x.shape[-1]), bias + activation("fastgelu"), node.y.size)


@cost("GemmFloat8", domain="com.microsoft")
def gemm_float8(node: Node) -> Cost:
    """Cost a Gemm of float8 operands: one multiply for alpha and the scales of the operands, one for that of Y.

    A beta of 0, the default, leaves C out. The other FLOPs run in float32.
    """
    inner = node.x.shape[0 if node.attr("transA", 0) else 1]
    scaled = node.attr("alpha", 1.0) != 1.0 or node.input(3) or node.input(4)
    added, beta = node.input(2), node.attr("beta", 0.0)
    per_element = (1 if scaled else 0) + (1 if node.input(5) else 0) + (1 if added and beta else 0)
    scaling_of_c = added.size if added and beta not in (0.0, 1.0) else 0
    product = node.cost(
        macs=node.y.size * inner,
        other_flops=node.y.size * per_element + scaling_of_c,
        other_type="float32",
    )
    return then(product, activation(node.attr("activation", "")), node.y.size)


@cost("SparseToDenseMatMul", domain="com.microsoft")
def sparse_to_dense_matmul(node: Node) -> Cost:
    """Answer that it is unknown: a product for each stored element of A, and how many those are no shape tells."""
    raise Unknown("how many elements of its sparse operand are stored is not known from its shape", node.x.name)


@cost("RouterGateUpProj", domain="com.microsoft")
def router_gate_up_proj(node: Node) -> Cost:
    """Cost one product for router, gate and up, then the gated activation of gate and up."""
    activated = node.output(1)
    product = node.cost(macs=node.x.size * node.required(1).shape[-1])
    if activated is None:
        return product
    work = gated_swish(
        node.attr("activation_alpha", 1.0), node.attr("activation_beta", 0.0), node.attr("limit", 0.0) > 0
    )
    return then(product, work, activated.size)


@cost("HyperConnectionLowRankMix", domain="com.microsoft")
def hyper_connection_low_rank_mix(node: Node) -> Cost:
    """Cost the mix of C streams of width H by a gate of low rank R; the formula is in the operator's definition.

    MACs: down and up projection, and the projection to the gates of the next block. Other FLOPs, for each element of
    the streams: multiply and add of the block before, RMS normalization and scale, sigmoid of the gate, multiply and
    add of the reduction; for each of R: silu, and its scale; for each output: scale; for each gate: divide, sigmoid,
    multiply.
    """
    streams, down, inject = node.x, node.required(2), node.required(4)
    rows, branches = prod(streams.shape[:-1]), inject.shape[1]
    hidden, gates = rows * down.shape[1], rows * branches
    rms = divide_by_rms(streams.size, gates)
    result = node.cost(
        macs=streams.size * (2 * down.shape[1] + branches),
        other_flops=rms.flops + affine(streams.size, node.required(1)) + node.y.size,
        special_ops=rms.special,
    )
    before = PerElement(2 if node.input(5) else 0)
    result = then(result, before + activation("sigmoid") + PerElement(2), streams.size)
    result = then(result, activation("silu") + PerElement(1), hidden)
    return then(result, PerElement(1, 1) + activation("sigmoid") + PerElement(1), gates)


@cost("HyperConnectionPostMix", domain="com.microsoft")
def hyper_connection_post_mix(node: Node) -> Cost:
    """Cost a C x C mix of streams, where there is one, and a multiply and an add of the block for each element."""
    mix: Tensor | None = node.input(3)
    return node.cost(macs=node.y.size * mix.shape[-1] if mix else 0, other_flops=2 * node.y.size)


@cost("HyperConnectionPreMix", domain="com.microsoft")
def hyper_connection_pre_mix(node: Node) -> Cost:
    """Cost the gated sum of C streams: a multiply and an add for each element, and a scale for each output."""
    scaled = node.y.size if node.attr("reduction_scale", 1.0) != 1.0 else 0
    return node.cost(other_flops=2 * node.x.size + scaled)

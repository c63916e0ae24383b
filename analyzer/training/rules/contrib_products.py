"""Products and convolutions of ONNX Runtime, fused with what follows: the standard operator, then its function.

The function goes back first: from what the node gives where its slope is made from that, else from what the product
gave, which is kept beside. A layout changes no count.
"""

from __future__ import annotations

from dataclasses import replace

from neural_cost.analyzer.node import Node
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward, reduced
from neural_cost.analyzer.training.rules.activations import slope_of
from neural_cost.analyzer.training.rules.convolution import conv, convolution
from neural_cost.analyzer.training.rules.products import gemm, product

DOMAIN, BLOCKED, CHANNELS_LAST = "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"


def behind(found: Gradient, node: Node, name: str) -> Gradient:
    """The gradient of an operator that puts a function of that name on what it gives.

    Raises:
        Unknown: the slope of the function has no formula.
    """
    slope, size = slope_of(name), node.y.size
    before = (Kept(size, node.y.dtype or "float32", precise=False),) if slope.keeps == "input" else ()
    return replace(
        found,
        other_flops=found.other_flops + size * slope.work.flops,
        special_ops=found.special_ops + size * slope.work.special,
        saves=(*found.saves, node.y if slope.keeps == "output" else None),
        kept=(*found.kept, *before),
    )


@backward("FusedConv", "NhwcConv", "NhwcFusedConv", domain=DOMAIN)
@backward("Conv", domain=BLOCKED)
@backward("Conv", domain=CHANNELS_LAST)
def fused_conv(node: Node, wants: Wants) -> Gradient:
    """As a Conv; the tensor that is added to it takes the gradient as it is."""
    return behind(conv(node, wants), node, node.attr("activation", ""))


@backward("ConvTransposeWithDynamicPads", domain=DOMAIN)
def conv_transpose_with_dynamic_pads(node: Node, wants: Wants) -> Gradient:
    """As a ConvTranspose whose bias is input 3."""
    return convolution(node, wants, node.x, bias=3)


@backward("FusedMatMul", "TransposeMatMul", "FusedMatMulActivation", domain=DOMAIN)
def fused_matmul(node: Node, wants: Wants) -> Gradient:
    """As a MatMul of what is turned; alpha scales the gradients."""
    a = node.x
    swapped = node.attr("transA", 0) and a.rank > 1
    inner = a.shape[0 if node.attr("transBatchA", 0) else -2] if swapped else a.shape[-1]
    scaled = node.y.size if node.attr("alpha", 1.0) != 1.0 else 0
    return behind(product(node, wants, node.y.size * inner, scaled), node, node.attr("activation", ""))


@backward("FusedGemm", domain=DOMAIN)
def fused_gemm(node: Node, wants: Wants) -> Gradient:
    """As a Gemm."""
    return behind(gemm(node, wants), node, node.attr("activation", ""))


@backward("GemmFastGelu", domain=DOMAIN)
def gemm_fast_gelu(node: Node, wants: Wants) -> Gradient:
    """As a MatMul, whose bias sums what the product gets."""
    found = product(node, wants, node.y.size * node.x.shape[-1], reduced(node, wants & {2}))
    return behind(found, node, "fastgelu")

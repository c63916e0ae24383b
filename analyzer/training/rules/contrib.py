"""Operators of com.microsoft that ONNX Runtime fuses, with the gradients of what they are made of."""

from __future__ import annotations

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward, reduced
from neural_cost.analyzer.training.rules.activations import GELU
from neural_cost.analyzer.training.rules.products import product

DOMAIN = "com.microsoft"


@backward("FusedMatMul", "TransposeMatMul", domain=DOMAIN)
def fused_matmul(node: Node, wants: Wants) -> Gradient:
    """As a MatMul of what is turned; alpha scales the gradients."""
    a = node.x
    swapped = node.attr("transA", 0) and a.rank > 1
    inner = a.shape[0 if node.attr("transBatchA", 0) else -2] if swapped else a.shape[-1]
    return product(node, wants, node.y.size * inner, node.y.size if node.attr("alpha", 1.0) != 1.0 else 0)


@backward("BiasGelu", domain=DOMAIN)
def bias_gelu(node: Node, wants: Wants) -> Gradient:
    """A GELU of the sum, which is kept; the bias sums what x gets."""
    size, work = node.y.size, GELU["none"].work
    return Gradient(
        other_flops=size * work.flops + reduced(node, wants & {1}),
        special_ops=size * work.special,
        kept=(_like(node.y, size),),
    )


@backward("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(node: Node, wants: Wants) -> Gradient:
    """As a LayerNormalization of the sum; x and skip both get its gradient, a bias sums it."""
    return _skipped(node, wants, scale=2, shift=3, bias=4, x=9, statistics=2)


@backward("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_rms_normalization(node: Node, wants: Wants) -> Gradient:
    """As an RMSNormalization of the sum; x and skip both get its gradient, a bias sums it."""
    return _skipped(node, wants, scale=2, shift=-1, bias=3, x=6, statistics=1)


def _skipped(node: Node, wants: Wants, *, scale: int, shift: int, bias: int, x: int, statistics: int) -> Gradient:
    """By the rules of `normalization`, of x + skip + bias, which is kept: the last output, or beside."""
    size = node.x.size
    rows = size // node.x.shape[-1]
    added = frozenset(wants & {0, 1, bias})
    each = (x + 1 if added else statistics) + (2 if scale in wants else 0) + (1 if shift in wants else 0)
    sums = sum((size - node.required(index).size for index in sorted(added - {0})), 0)
    whole = node.output(3)
    kept = (Kept(statistics * rows, "float32"), *(() if whole else (_like(node.y, size),)))
    return Gradient(
        other_flops=size * each + sums + (statistics * rows if added else 0),
        special_ops=statistics * rows if added else 0,
        saves=(whole,),
        kept=kept,
    )


def _like(tensor: Tensor, elements: Dim) -> Kept:
    return Kept(elements, tensor.dtype or "float32", precise=False)

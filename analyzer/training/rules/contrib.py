"""Elementwise operators of com.microsoft, fused with their neighbours: the gradients of what they are made of."""

from __future__ import annotations

from neural_cost.analyzer.cost import Dim, ceil_div, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import ACTIVATIONS, PerElement
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward, reduced
from neural_cost.analyzer.training.rules.activations import GELU, NAMED, SWISH

DOMAIN = "com.microsoft"


def like(tensor: Tensor, elements: Dim) -> Kept:
    """So many elements of the type of a tensor, narrowed as activations are."""
    return Kept(elements, tensor.dtype or "float32", precise=False)


@backward("BiasAdd", domain=DOMAIN)
def bias_add(node: Node, wants: Wants) -> Gradient:
    """As Add of x, bias and skip."""
    return Gradient(other_flops=reduced(node, wants))


@backward("BiasGelu", domain=DOMAIN)
def bias_gelu(node: Node, wants: Wants) -> Gradient:
    """A GELU of the sum, which is kept; the bias sums what x gets."""
    size, work = node.y.size, GELU["none"].work
    return Gradient(
        other_flops=size * work.flops + reduced(node, wants & {1}),
        special_ops=size * work.special,
        kept=(like(node.y, size),),
    )


@backward("BiasSplitGelu", domain=DOMAIN)
def bias_split_gelu(node: Node, wants: Wants) -> Gradient:
    """Of left * gelu(right), halves of the sum, which is kept: a GELU and a product for one, its slope and one more."""
    size, whole = node.y.size, node.x.size
    work = ACTIVATIONS["gelu"] + GELU["none"].work + PerElement(2)
    bias = whole - node.required(1).size if 1 in wants else 0
    return Gradient(other_flops=size * work.flops + bias, special_ops=size * work.special, kept=(like(node.y, whole),))


@backward("BiasSoftmax", domain=DOMAIN)
def bias_softmax(node: Node, wants: Wants) -> Gradient:
    """A Softmax, whose output is kept; the bias sums what x gets."""
    work = NAMED["softmax"].work
    return Gradient(other_flops=node.y.size * work.flops + reduced(node, wants & {1}), saves=(node.y,))


@backward("BiasDropout", "BitmaskBiasDropout", domain=DOMAIN)
def bias_dropout(node: Node, wants: Wants) -> Gradient:
    """As a Dropout of x and bias; what is added after it takes the gradient as it is."""
    dropped = wants & {0, 1}
    flops = reduced(node, wants) + (2 * node.y.size if dropped else 0)
    return Gradient(other_flops=flops, kept=(_mask(node),) if dropped else ())


@backward("BitmaskDropout", domain=DOMAIN)
def bitmask_dropout(node: Node, wants: Wants) -> Gradient:
    """As a Dropout."""
    del wants
    return Gradient(other_flops=2 * node.y.size, kept=(_mask(node),))


def _mask(node: Node) -> Kept:
    """A byte for each element, or a bit of an uint32."""
    size = node.y.size
    return Kept(ceil_div(size, 32), "uint32") if node.op_type.startswith("Bitmask") else Kept(size, "bool")


@backward("ScaledSiLU", domain=DOMAIN)
def scaled_silu(node: Node, wants: Wants) -> Gradient:
    """A Swish of scale * x; the slope in that is multiplied by the scale for x, by x and summed for a scale tensor."""
    size, special = node.y.size, node.y.size * SWISH.work.special
    each = SWISH.work.flops + 1 + (1 if 0 in wants else 0) + (1 if 1 in wants else 0)
    summed = size - node.required(1).size if 1 in wants else 0
    return Gradient(other_flops=size * each + summed, special_ops=special, saves=(node.x, node.input(1)))


@backward("SwiGLU", domain=DOMAIN)
def swiglu(node: Node, wants: Wants) -> Gradient:
    """Of g * sigmoid(alpha * g) * (l + beta), as the standard operator; with a limit g and l are clamped again: 3.

    An alpha that is not 1 is 2 more for g, as in a Swish, and 1 for what l is multiplied by; a beta is added for g.
    """
    size = node.y.size
    scaled = node.attr("activation_alpha", 1.0) != 1.0
    shifted, clamps = node.attr("activation_beta", 0.0) != 0.0, node.attr("limit", 0.0) > 0
    of_gate = SWISH.work.flops + 1 + (2 if scaled else 0) + (1 if shifted else 0)
    of_up = ACTIVATIONS["silu"].flops + 1 + (1 if scaled else 0)
    each = (of_gate if 0 in wants else 0) + (of_up if 1 in wants else 0) + (3 if clamps else 0)
    saves = (node.x, node.required(1) if 0 in wants or clamps else None)
    return Gradient(other_flops=size * each, special_ops=2 * size * len(wants), saves=saves)


@backward("GatedAdd", domain=DOMAIN)
def gated_add(node: Node, wants: Wants) -> Gradient:
    """Of x + y * gate: a product for y, one and its sum for the gate.

    A gate that is projected goes back through its sigmoid, 3 for each row, and the dot product.
    """
    size, gate, weight = node.y.size, node.required(2), node.input(3)
    rows = gate.size if weight is None else prod(gate.shape[:-1])
    of_gate = bool(wants & {2, 3})
    flops = (size if 1 in wants else 0) + (2 * size - rows if of_gate else 0)
    saves: tuple[Tensor | None, ...] = (node.required(1) if of_gate else None,)
    if weight is None:
        return Gradient(other_flops=flops, saves=(*saves, gate if 1 in wants else None))
    return Gradient(
        macs={at: gate.size for at in (2, 3) if at in wants},
        other_flops=flops + (3 * rows if of_gate else 0),
        saves=(*saves, weight if 2 in wants else None, gate if 3 in wants else None),
        kept=(like(node.y, rows),),
    )

"""Products with packed weights: those are integers, or of fewer than 16 bits, and are not trained.

The input gets the product of its gradient with the weights, which are decoded once more; a bias sums. Adapters that
are trained beside such weights are products of their own in the graph.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.training.registry import Gradient, Wants, backward
from neural_cost.analyzer.training.rules.contrib_products import behind

DOMAIN = "com.microsoft"


def _product(node: Node, wants: Wants, inner: Dim, decode: Dim, bias: int = -1) -> Gradient:
    """The product for the input over `inner` columns; `decode` FLOPs make the weights again.

    Raises:
        Unknown: a gradient is wanted of what the weights are packed with.
    """
    if wants - {0, bias}:
        raise Unknown("the gradient of packed weights and of their scales is not known")
    wanted = 0 in wants
    return Gradient(
        macs={0: node.y.size * inner} if wanted else {},
        other_flops=(decode if wanted else 0) + (node.y.size - node.required(bias).size if bias in wants else 0),
        saves=tuple(tensor for at, tensor in enumerate(node.inputs) if at not in (0, bias)) if wanted else (),
    )


@backward("MatMulNBits", domain=DOMAIN)
def matmul_nbits(node: Node, wants: Wants) -> Gradient:
    """N x K weights, each converted, shifted and scaled; one without elements stands for no product."""
    inner, outer = node.required_attr("K"), node.required_attr("N")
    if node.required(1).size == 0:
        return _product(node, wants - {0}, inner, 0, bias=5)
    return _product(node, wants, inner, 3 * inner * outer, bias=5)


@backward("MatMulBnb4", domain=DOMAIN)
def matmul_bnb4(node: Node, wants: Wants) -> Gradient:
    """A code is looked up, and scaled."""
    return _product(node, wants, node.x.shape[-1], node.required_attr("K") * node.required_attr("N"))


@backward("MatMulFpQ4", domain=DOMAIN)
def matmul_fp_q4(node: Node, wants: Wants) -> Gradient:
    """A code is converted and scaled; quantization type 1 has an offset."""
    inner, outer = node.x.shape[-1], node.y.shape[-1]
    return _product(node, wants, inner, (3 if node.attr("blk_quant_type", 1) == 1 else 2) * inner * outer)


@backward("MatMulBlockQuantizedFp4Weight", domain=DOMAIN)
def matmul_fp4_weight(node: Node, wants: Wants) -> Gradient:
    """Two codes in a byte; a weight, and the scale of a block, is converted and scaled."""
    weight, scales = node.required(1), node.required(2)
    inner, outer = 2 * weight.shape[1], weight.shape[0]
    return _product(node, wants, inner, 2 * (inner * outer + scales.size), bias=5)


@backward("MatMulBlockQuantizedFp8Weight", domain=DOMAIN)
def matmul_fp8_weight(node: Node, wants: Wants) -> Gradient:
    """A weight is converted and scaled. An input that goes through float8 on its way is rounded."""
    if node.input(3) is not None and 0 in wants:
        raise Unknown("its input is rounded to float8, which has no derivative")
    weight = node.required(1)
    return _product(node, wants, weight.shape[1], 2 * weight.size, bias=4)


@backward("MatMulPacked", domain=DOMAIN)
def matmul_packed(node: Node, wants: Wants) -> Gradient:
    """A code is converted and scaled, the product once more; then the function goes back."""
    inner = node.required_attr("K")
    scaled = node.y.size if node.input(2) else 0
    found = _product(node, wants, inner, 2 * inner * node.required_attr("N") + scaled)
    return behind(found, node, node.attr("activation_type", "none"))

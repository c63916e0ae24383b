"""Matrix products: the gradient of each operand is one product, of the gradient and the other operand, as large."""

from __future__ import annotations

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.einsum import contractions
from neural_cost.analyzer.training.registry import Gradient, Wants, backward


def product(node: Node, wants: Wants, macs: Dim, other_flops: Dim = 0) -> Gradient:
    """The gradients of both operands; each needs the other one kept."""
    wanted = [index for index in (0, 1) if index in wants]
    return Gradient(
        macs=dict.fromkeys(wanted, macs),
        other_flops=other_flops,
        saves=tuple(_other(node, index) for index in wanted),
    )


def _other(node: Node, index: int) -> Tensor:
    return node.required(1 - index)


@backward("MatMul")
def matmul(node: Node, wants: Wants) -> Gradient:
    """As many MACs for each operand as forward; an operand that was broadcast sums over what it was broadcast to."""
    return product(node, wants, node.y.size * node.x.shape[-1])


@backward("Gemm")
def gemm(node: Node, wants: Wants) -> Gradient:
    """As a MatMul. The gradient of C is a sum; alpha and beta scale the gradients that they are factors of."""
    inner = node.x.shape[0 if node.attr("transA", 0) else 1]
    flops: Dim = 0
    if 2 in wants:
        added = node.required(2)
        flops = node.y.size - added.size + (added.size if node.attr("beta", 1.0) != 1.0 else 0)
    if wants & {0, 1} and node.attr("alpha", 1.0) != 1.0:
        flops = flops + node.y.size
    return product(node, wants, node.y.size * inner, flops)


@backward("Einsum")
def einsum(node: Node, wants: Wants) -> Gradient:
    """Each pairwise contraction back: the gradient of each side that needs one is as large a product.

    What comes out of a contraction is kept for the next one, as any operand is.
    """
    operands = [node.required(index) for index in range(len(node.inputs))]
    steps = contractions(str(node.attr("equation", "")), [operand.shape for operand in operands]).products
    macs: dict[int, Dim] = dict.fromkeys(sorted(wants), 0)
    inner: Dim = 0
    for position, volume in enumerate(steps, start=1):
        before = min(wants) < position  # the left side is an operand, or made of those before it
        if position in wants:
            macs[position] = volume
        if before and position == 1:
            macs[0] = volume
        elif before:
            inner = inner + volume
    saves = [tensor for at, tensor in enumerate(operands) if wants - {at}] if len(operands) > 1 else []
    return Gradient(macs=macs, inner_macs=inner, saves=tuple(saves))

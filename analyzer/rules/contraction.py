"""Matrix products and their generalization.

Traffic is the default everywhere: each operand once, the output once. Nothing between two contractions of one
Einsum counts as traffic.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.einsum import contractions
from neural_cost.analyzer.rules.registry import cost


@cost("MatMul")
@cost("MatMulInteger16", domain="com.microsoft")
def matmul(node: Node) -> Cost:
    """Cost a matrix product: the inner dimension for each output element, broadcast batches included."""
    return node.cost(macs=node.y.size * node.x.shape[-1])


@cost("Gemm")
def gemm(node: Node) -> Cost:
    """Cost alpha * A' * B' + beta * C: scaling and adding count only where they happen.

    alpha scales the product, beta scales C as it is given, before it is broadcast.
    """
    inner = node.x.shape[0 if node.attr("transA", 0) else 1]
    added = node.input(2)
    flops = node.y.size if node.attr("alpha", 1.0) != 1.0 else 0
    if added is not None:
        flops += node.y.size + (added.size if node.attr("beta", 1.0) != 1.0 else 0)
    return node.cost(macs=node.y.size * inner, other_flops=flops)


@cost("Einsum")
def einsum(node: Node) -> Cost:
    """Cost an Einsum as pairwise contractions from left to right: the product of all distinct labels of each.

    With one operand nothing is multiplied: a label that is summed makes it one add for each element of the
    operand (of its diagonal, where a label repeats), and else it only moves data.
    """
    operands = [node.required(index) for index in range(len(node.inputs))]
    steps = contractions(str(node.attr("equation", "")), [operand.shape for operand in operands])
    return node.cost(macs=sum(steps.products, 0), other_flops=steps.adds)

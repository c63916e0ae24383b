"""Matrix products and their generalization."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.registry import cost


@cost("MatMul")
def matmul(node: Node) -> Cost:
    """Cost a matrix product: the inner dimension for each output element, broadcast batches included."""
    return node.cost(macs=node.y.size * node.x.shape[-1])


@cost("Gemm")
def gemm(node: Node) -> Cost:
    """Cost alpha * A' * B' + beta * C: scaling and adding count only where they happen."""
    inner = node.x.shape[0 if node.attr("transA", 0) else 1]
    passes = (node.attr("alpha", 1.0) != 1.0) + (1 + (node.attr("beta", 1.0) != 1.0) if node.input(2) else 0)
    return node.cost(macs=node.y.size * inner, other_flops=node.y.size * passes)

"""Matrix functions that are no products: by elimination, without counting the search for pivots."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, prod
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.registry import cost


@cost("Det")
def det(node: Node) -> Cost:
    """Cost elimination to triangular form and the product of the diagonal, for each n x n matrix.

    With k rows below the pivot, for k from n - 1 down to 1: k divisions, k * k multiplies and k * k subtracts.
    """
    n = node.x.shape[-1]
    divisions = n * (n - 1) // 2
    updates = (n - 1) * n * (2 * n - 1) // 3  # 2 * the sum of k * k
    matrices = prod(node.x.shape[:-2])
    return node.cost(other_flops=matrices * (divisions + updates + n - 1), special_ops=matrices * divisions)


@cost("Inverse", domain="com.microsoft")
def inverse(node: Node) -> Cost:
    """Cost Gauss-Jordan elimination in place: for each pivot n divisions, and n multiply-subtracts in other rows."""
    n = node.x.shape[-1]
    matrices = prod(node.x.shape[:-2])
    return node.cost(other_flops=matrices * (n * n + 2 * n * n * (n - 1)), special_ops=matrices * n * n)


# For each pair of vectors, FLOPs for each of their elements, and for the result (all of them transcendental).
METRICS = {
    "sqeuclidean": (3, 0),  # subtract, multiply, add
    "euclidean": (3, 1),  # and a root
    "cityblock": (3, 0),  # subtract, absolute, add
    "chebyshev": (3, 0),  # subtract, absolute, max
}


@cost("CDist", domain="com.microsoft")
def cdist(node: Node) -> Cost:
    """Cost the distance between each row of A and each row of B. Raises Unknown for a metric that is not listed."""
    metric = node.attr("metric", "sqeuclidean")
    if metric not in METRICS:
        raise Unknown(f"metric {metric} has no formula")
    element, result = METRICS[metric]
    pairs = node.y.size
    return node.cost(other_flops=pairs * (element * node.x.shape[-1] + result), special_ops=pairs * result)

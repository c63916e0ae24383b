"""Functions of whole matrices, and distances between their rows."""

from __future__ import annotations

from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.training.registry import Gradient, Wants, backward, reduced

DOMAIN = "com.microsoft"


@backward("Det")
def det(node: Node, wants: Wants) -> Gradient:
    """Dy * y * inverse(x)', the inverse by Gauss and Jordan: n * n + 2 * n * n * (n - 1) FLOPs, then n * n."""
    del wants
    n, matrices = node.x.shape[-1], node.y.size
    return Gradient(
        other_flops=matrices * (n * n + 2 * n * n * (n - 1) + n * n + 1),
        special_ops=matrices * n * n,
        saves=(node.x, node.y),
    )


@backward("Inverse", domain=DOMAIN)
def inverse(node: Node, wants: Wants) -> Gradient:
    """-y' dy y': two products, and the sign."""
    del wants
    size = node.y.size
    return Gradient(macs={0: 2 * size * node.x.shape[-1]}, other_flops=size, saves=(node.y,))


@backward("CDist", domain=DOMAIN)
def cdist(node: Node, wants: Wants) -> Gradient:
    """2 * dy * (a - b), or dy / y * (a - b): 1 for a pair; subtract, multiply, and an add for each that needs it."""
    metric = node.attr("metric", "sqeuclidean")
    if metric not in ("sqeuclidean", "euclidean"):
        raise Unknown(f"the gradient of metric {metric} has no formula here")
    pairs, rooted = node.y.size, metric == "euclidean"
    return Gradient(
        other_flops=pairs * (1 + node.x.shape[-1] * (2 + len(wants))),
        special_ops=pairs if rooted else 0,
        saves=(node.x, node.required(1), node.y if rooted else None),
    )


@backward("ComplexMul", "ComplexMulConj", domain=DOMAIN)
def complex_mul(node: Node, wants: Wants) -> Gradient:
    """A complex product with the other operand, or its conjugate, for each: 3 for each of the two parts."""
    return Gradient(
        other_flops=reduced(node, wants) + 3 * node.y.size * len(wants),
        saves=tuple(node.required(1 - index) for index in sorted(wants)),
    )

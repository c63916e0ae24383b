"""Operators that make data: from a shape, a range, or a random number generator.

ONNX fixes no generator. By convention a uniform number costs one FLOP, and a normal one is made from uniform ones by
the Box-Muller transform: sqrt(-2 * log(u)) * cos(2 * pi * v), for each element a draw, log, multiply, sqrt, multiply,
cos and multiply.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.activations import PerElement
from neural_cost.analyzer.rules.elementwise import UNIFORM
from neural_cost.analyzer.rules.registry import cost
from neural_cost.analyzer.rules.sorting import log2_ceil

NORMAL = UNIFORM + PerElement(6, 3)
SCALE_AND_SHIFT = PerElement(2)


@cost("ConstantOfShape")
def constant_of_shape(node: Node) -> Cost:
    """Cost writing the output; the shape is read."""
    return node.cost()


@cost("EyeLike")
def eye_like(node: Node) -> Cost:
    """Cost writing the output; the input lends its shape and is not read."""
    return node.cost(read_bytes=0)


@cost("Range")
@cost("Range", domain="com.microsoft")
def range_(node: Node) -> Cost:
    """Cost start + i * delta for each element."""
    return node.cost(other_flops=2 * node.y.size)


def _draw(node: Node, number: PerElement) -> Cost:
    """Cost drawn numbers; an input lends its shape and is not read."""
    work, size = number + SCALE_AND_SHIFT, node.y.size
    return node.cost(
        other_flops=size * work.flops, special_ops=size * work.special, read_bytes=0, other_type=node.y.dtype
    )


@cost("RandomUniform", "RandomUniformLike")
def random_uniform(node: Node) -> Cost:
    """Cost low + u * (high - low) for each element."""
    return _draw(node, UNIFORM)


@cost("RandomNormal", "RandomNormalLike")
def random_normal(node: Node) -> Cost:
    """Cost mean + z * scale for each element."""
    return _draw(node, NORMAL)


@cost("Bernoulli")
def bernoulli(node: Node) -> Cost:
    """Cost a draw and a comparison for each element."""
    return node.cost(other_flops=2 * node.y.size)


@cost("Multinomial")
def multinomial(node: Node) -> Cost:
    """Cost exp and a running sum over the classes; for each sample a draw, a scaling and a binary search."""
    classes = node.x.shape[-1]
    size = node.x.size
    return node.cost(other_flops=2 * size + node.y.size * (2 + log2_ceil(classes)), special_ops=size)

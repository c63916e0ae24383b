"""Optimizer steps of ai.onnx.preview.training: the same work for each element of each tensor that is optimized.

Inputs are the learning rate, the step count, then the tensors, their gradients and their states, a list of each. What
is computed once for the step (a decayed rate) is not counted.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.activations import PerElement
from neural_cost.analyzer.rules.registry import cost

DOMAIN = "ai.onnx.preview.training"


def _step(node: Node, lists: int, work: PerElement) -> Cost:
    """Cost work on each element of the tensors, which are the first of so many lists of inputs."""
    if node.attr("norm_coefficient", 0.0) != 0.0:
        work += PerElement(2)  # norm * x + g
    tensors = (len(node.inputs) - 2) // lists
    elements: Dim = sum((node.required(2 + i).size for i in range(tensors)), 0)
    kind = node.required(2).dtype
    return node.cost(other_flops=elements * work.flops, special_ops=elements * work.special, other_type=kind)


@cost("Adagrad", domain=DOMAIN)
def adagrad(node: Node) -> Cost:
    """Cost h + g * g; sqrt(h) + epsilon; x - r * g / that."""
    return _step(node, 3, PerElement(2 + 2 + 3, 2))


@cost("Adam", domain=DOMAIN)
def adam(node: Node) -> Cost:
    """Cost a * v + (1 - a) * g; b * h + (1 - b) * g * g; sqrt(h) + epsilon; x - r * v / that; and a last scaling."""
    last = 1 if node.attr("norm_coefficient_post", 0.0) != 0.0 else 0
    return _step(node, 4, PerElement(3 + 4 + 2 + 3 + last, 2))


@cost("Momentum", domain=DOMAIN)
def momentum(node: Node) -> Cost:
    """Cost a * v + b * g; x - r * v, and in Nesterov's form x - r * (g + a * v)."""
    update = 4 if node.attr("mode") == "nesterov" else 2
    return _step(node, 3, PerElement(3 + update))

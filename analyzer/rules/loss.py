"""Losses: the logarithm of the probability of each target, weighted and reduced."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.indexing import partial_read
from neural_cost.analyzer.rules.registry import cost


def _picked(node: Node, targets: Dim, weight: Tensor | None) -> tuple[Dim, Dim]:
    """FLOPs and divisions to pick, weight and reduce one value for each target.

    A target costs a negation, a comparison where one index is ignored, a multiply where there are weights, and an
    add for a sum; the mean divides once, by the sum of the weights where there are any.
    """
    reduction = node.attr("reduction", "mean")
    flops = 1 + (node.attr("ignore_index") is not None) + (weight is not None) + (reduction != "none")
    mean = int(reduction == "mean")
    sum_of_weights = targets if mean and weight else 0
    return targets * flops + sum_of_weights + mean, mean


@cost("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(node: Node) -> Cost:
    """Cost picking the target's logarithm; of the input, one element for each target is read."""
    targets = node.required(1).size
    flops, divisions = _picked(node, targets, node.input(2))
    return node.cost(other_flops=flops, special_ops=divisions, read_bytes=partial_read(node, targets))


@cost("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(node: Node) -> Cost:
    """Cost a LogSoftmax over the classes, which are axis 1, and picking the target's logarithm."""
    size, rows = node.x.size, node.x.shape[0] * prod(node.x.shape[2:])
    flops, divisions = _picked(node, node.required(1).size, node.input(2))
    return node.cost(other_flops=5 * size + rows + flops, special_ops=size + rows + divisions)

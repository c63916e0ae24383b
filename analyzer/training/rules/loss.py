"""Losses: the gradient of the mean or sum over the targets."""

from __future__ import annotations

from neural_cost.analyzer.node import Node
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward


@backward("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy_loss(node: Node, wants: Wants) -> Gradient:
    """(exp(log p) - target) * scale: exp, subtract, multiply; the logarithms are kept, and the targets."""
    del wants
    size, logs = node.x.size, node.output(1)
    kept = () if logs else (Kept(size, node.x.dtype or "float32", precise=False),)
    return Gradient(other_flops=3 * size, special_ops=size, saves=(node.required(1), logs), kept=kept)


@backward("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(node: Node, wants: Wants) -> Gradient:
    """A scale for each target, put at its place among zeros."""
    del wants
    return Gradient(other_flops=node.required(1).size, saves=(node.required(1), node.input(2)))

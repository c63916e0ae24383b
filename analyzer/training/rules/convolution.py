"""Convolutions: the gradients of input and filter are each a convolution with as many MACs as the forward one."""

from __future__ import annotations

from neural_cost.analyzer.cost import Dim, prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.training.registry import Gradient, Wants, backward
from neural_cost.analyzer.training.rules.products import product


def _convolution(node: Node, wants: Wants, macs: Dim) -> Gradient:
    """The bias's gradient is the sum of the output's."""
    flops = node.y.size - node.required(2).size if 2 in wants else 0
    return product(node, wants, macs, flops)


@backward("Conv")
def conv(node: Node, wants: Wants) -> Gradient:
    """One dot product over a filter for each output element, once for each operand that needs it."""
    return _convolution(node, wants, node.y.size * prod(node.required(1).shape[1:]))


@backward("ConvTranspose")
def conv_transpose(node: Node, wants: Wants) -> Gradient:
    """Each input element meets every tap of its group's filters, once for each operand that needs it."""
    return _convolution(node, wants, node.x.size * prod(node.required(1).shape[1:]))

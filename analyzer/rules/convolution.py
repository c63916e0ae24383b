"""Convolutions: one dot product over a filter per output element."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.registry import cost


@cost("Conv")
def conv(node: Node) -> Cost:
    """Cost a convolution; zero padding counts as data, the bias is one add per output element."""
    weight = node.required(1)
    taps = prod(weight.shape[1:])  # (M, C/group, *kernel): group is already divided out
    return node.cost(macs=node.y.size * taps, other_flops=node.y.size if node.input(2) else 0)


@cost("ConvTranspose")
def conv_transpose(node: Node) -> Cost:
    """Cost a transposed convolution: each INPUT element meets every tap of its group's filters.

    Products that fall outside the output (cropped by pads) are computed by the dense loop nest and count.
    """
    weight = node.required(1)
    taps = prod(weight.shape[1:])  # (C, M/group, *kernel)
    return node.cost(macs=node.x.size * taps, other_flops=node.y.size if node.input(2) else 0)

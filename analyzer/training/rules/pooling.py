"""Pooling: a maximum sends its gradient back to one place, a mean to all of its window."""

from __future__ import annotations

from neural_cost.analyzer.cost import prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward


@backward("MaxPool", "GlobalMaxPool")
@backward("MaxPool", "GlobalMaxPool", domain="com.microsoft.nchwc")
@backward("NhwcMaxPool", "MaxpoolWithMask", domain="com.microsoft")
def max_pool(node: Node, wants: Wants) -> Gradient:
    """An add for each output element, at the place that is kept for it: an int64."""
    del wants
    size, places = node.y.size, node.output(1)
    return Gradient(other_flops=size, saves=(places,), kept=() if places else (Kept(size, "int64"),))


@backward("MaxRoiPool")
def max_roi_pool(node: Node, wants: Wants) -> Gradient:
    """As a MaxPool, whatever the size of a region; its regions get no gradient."""
    return max_pool(node, wants)


@backward("AveragePool")
@backward("AveragePool", domain="com.microsoft.nchwc")
def average_pool(node: Node, wants: Wants) -> Gradient:
    """A division for each output element, and an add for each tap of it."""
    del wants
    size = node.y.size
    return Gradient(other_flops=size * (1 + prod(node.required_attr("kernel_shape"))), special_ops=size)


@backward("GlobalAveragePool")
@backward("GlobalAveragePool", domain="com.microsoft.nchwc")
def global_average_pool(node: Node, wants: Wants) -> Gradient:
    """A division for each output element, whose result goes to each input element."""
    del wants
    return Gradient(other_flops=node.y.size, special_ops=node.y.size)


@backward("LpPool", "GlobalLpPool")
def lp_pool(node: Node, wants: Wants) -> Gradient:
    """Dy * x / y for each tap of a norm of squares: a division for each output, a multiply and an add for each tap."""
    del wants
    whole = node.op_type == "GlobalLpPool"
    taps = prod(node.x.shape[2:]) if whole else prod(node.required_attr("kernel_shape"))
    size = node.y.size
    return Gradient(other_flops=size * (1 + 2 * taps), special_ops=size, saves=(node.x, node.y))

"""Pooling: every tap of a window for each output element, padding included; what windows cover is read."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.activations import PerElement
from neural_cost.analyzer.rules.indexing import partial_read
from neural_cost.analyzer.rules.registry import cost
from neural_cost.analyzer.rules.windows import elements_read


def lp(node: Node) -> tuple[PerElement, PerElement]:
    """Work of an Lp norm for each tap (power, add), and for each output (root)."""
    p = node.attr("p", 2)
    if p in (1, 2):
        return PerElement(2), PerElement(p - 1, p - 1)  # absolute or square, add; a root of the squares alone
    return PerElement(3, 1), PerElement(1, 1)  # absolute, power, add; power


def pool(node: Node, taps: Dim, tap: PerElement, output: PerElement, read_bytes: Dim | None = None) -> Cost:
    """Cost work for each tap of each output element, and for each output element."""
    size = node.y.size
    flops = size * (taps * tap.flops + output.flops)
    special = size * (taps * tap.special + output.special)
    return node.cost(other_flops=flops, special_ops=special, read_bytes=read_bytes)


def _windows(node: Node, tap: PerElement, output: PerElement) -> Cost:
    read = partial_read(node, elements_read(node, node.x, node.y, node.required_attr("kernel_shape")))
    return pool(node, prod(node.required_attr("kernel_shape")), tap, output, read)


def _whole(node: Node, tap: PerElement, output: PerElement) -> Cost:
    return pool(node, prod(node.x.shape[2:]), tap, output)


@cost("MaxPool")
@cost("MaxpoolWithMask", domain="com.microsoft")
@cost("MaxPool", domain="com.microsoft.nchwc")
def max_pool(node: Node) -> Cost:
    """Cost one comparison for each tap. Indices, where asked for, are by-products: only written."""
    return _windows(node, PerElement(1), PerElement(0))


@cost("NhwcMaxPool", domain="com.microsoft")
def nhwc_max_pool(node: Node) -> Cost:
    """Cost one comparison for each tap; the channels are the last axis."""
    read = partial_read(node, elements_read(node, node.x, node.y, node.required_attr("kernel_shape"), first=1))
    return pool(node, prod(node.required_attr("kernel_shape")), PerElement(1), PerElement(0), read)


@cost("AveragePool")
@cost("AveragePool", domain="com.microsoft.nchwc")
def average_pool(node: Node) -> Cost:
    """Cost one add for each tap and a division for each output element."""
    return _windows(node, PerElement(1), PerElement(1, 1))


@cost("LpPool")
def lp_pool(node: Node) -> Cost:
    """Cost the norm of each window."""
    return _windows(node, *lp(node))


@cost("GlobalMaxPool")
@cost("GlobalMaxPool", domain="com.microsoft.nchwc")
def global_max_pool(node: Node) -> Cost:
    """Cost one comparison for each input element."""
    return _whole(node, PerElement(1), PerElement(0))


@cost("GlobalAveragePool")
@cost("GlobalAveragePool", domain="com.microsoft.nchwc")
def global_average_pool(node: Node) -> Cost:
    """Cost one add for each input element and a division for each output element."""
    return _whole(node, PerElement(1), PerElement(1, 1))


@cost("GlobalLpPool")
def global_lp_pool(node: Node) -> Cost:
    """Cost the norm of each channel."""
    return _whole(node, *lp(node))


@cost("MaxUnpool")
def max_unpool(node: Node) -> Cost:
    """Cost no arithmetic: values are put where the indices say, zeros elsewhere."""
    return node.cost()


@cost("MaxRoiPool")
def max_roi_pool(node: Node) -> Cost:
    """Refuse: a region's size, and so its number of comparisons, is data."""
    raise Unknown("the size of each region is known in a run alone", node.required(1).name)

"""Convolutions: one dot product over a filter per output element.

Filters and bias are read once, the output is written once; of the input, the elements that some filter covers are read
(a 1x1 filter with strides of 2 reads a quarter of them).
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import activation
from neural_cost.analyzer.rules.indexing import partial_read
from neural_cost.analyzer.rules.registry import cost
from neural_cost.analyzer.rules.windows import elements_read


@cost("Conv")
def conv(node: Node) -> Cost:
    """Cost a convolution; zero padding counts as data, the bias is one add per output element."""
    weight = node.required(1)
    taps = prod(weight.shape[1:])  # (M, C/group, *kernel): group is already divided out
    return node.cost(
        macs=node.y.size * taps,
        other_flops=node.y.size if node.input(2) else 0,
        read_bytes=covered_read(node, weight),
    )


def covered_read(node: Node, weight: Tensor) -> Dim:
    """Bytes that a convolution over (N, C, *spatial) reads: what filters (M, C/group, *kernel) cover, and the rest."""
    return partial_read(node, elements_read(node, node.x, node.y, weight.shape[2:]))


@cost("ConvTranspose")
@cost("ConvTranspose", domain="com.ms.internal.nhwc")
def conv_transpose(node: Node) -> Cost:
    """Cost a transposed convolution: each INPUT element meets every tap of its group's filters.

    Products that fall outside the output (cropped by pads) are computed by the dense loop nest and count.
    """
    weight = node.required(1)
    taps = prod(weight.shape[1:])  # (C, M/group, *kernel)
    return node.cost(macs=node.x.size * taps, other_flops=node.y.size if node.input(2) else 0)


@cost("DeformConv")
def deform_conv(node: Node) -> Cost:
    """Cost a deformable convolution: a convolution over samples that are interpolated between 2^n neighbours.

    A sampling point (batch x offset group x tap x output position) has n coordinates, each one add, one floor, one
    subtract for its fraction and one for the rest of it; its 2^n weights are products of n factors. A sample
    (the same for each input channel) is 2^n multiplies and 2^n - 1 adds, and one multiply where there is a mask.
    """
    x, weight = node.x, node.required(1)
    axes = x.rank - 2
    corners = 2**axes
    positions = x.shape[0] * prod(weight.shape[2:]) * prod(node.y.shape[2:])
    point = 4 * axes + corners * (axes - 1)
    sample = 2 * corners - 1 + (1 if node.input(4) else 0)
    bias = node.y.size if node.input(3) else 0
    return node.cost(
        macs=node.y.size * prod(weight.shape[1:]),
        other_flops=positions * (node.attr("offset_group", 1) * point + x.shape[1] * sample) + bias,
    )


@cost("CausalConvWithState")
@cost("CausalConvWithState", domain="com.microsoft")
def causal_conv_with_state(node: Node) -> Cost:
    """Cost a depthwise causal convolution: each output element meets the taps of its channel, then an activation.

    With `input_channels` only a slice of the input's channels is used, and read.
    """
    function = activation(node.attr("activation", "none"))
    bias = 1 if node.input(2) else 0
    used = node.attr("input_channels", 0)
    unread = node.x.bytes - node.x.size_in_bytes(prod(node.x.shape[:-1]) * used) if used else 0
    return node.cost(
        macs=node.y.size * prod(node.required(1).shape[1:]),
        other_flops=node.y.size * (function.flops + bias),
        special_ops=node.y.size * function.special,
        read_bytes=node.read_bytes - unread,
    )

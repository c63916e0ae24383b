"""Products of a convolution with zero padding: they count as MACs, and a kernel need not do them.

Packed kernels skip them: a 3x3 convolution over 14 x 14, padded by 1, does 9 % fewer products than it counts, and would
seem to beat the peak. So bounds are made of the rest. A transposed convolution has the same thing the other way round:
products that fall outside the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from neural_cost.analyzer.cost import Dim, ceil_div, prod
from neural_cost.analyzer.node import Node, Unknown

CHANNELS_FIRST = {
    ("", "Conv"): 1,
    ("", "ConvInteger"): 1,
    ("", "QLinearConv"): 3,
    ("", "ConvTranspose"): 1,
    ("com.microsoft", "FusedConv"): 1,
    ("com.microsoft", "QLinearConv"): 3,
    ("com.microsoft.nchwc", "Conv"): 1,
}
"""Convolutions over (N, C, *spatial) with filters (*, *, *kernel), and which input the filters are."""

MANY = 4096  # windows or taps along an axis beyond which nothing is taken off: a small file may not take long


class Axis(NamedTuple):
    """One spatial axis: windows, taps of each, elements; the first window begins `start` before the first element.

    Of a transposed convolution each input element is a window over the output.
    """

    windows: int
    taps: int
    length: int
    stride: int
    dilation: int
    start: int

    @property
    def products(self) -> int:
        """Pairs of a window and a tap that meet an element: 0 <= window * stride + tap * dilation - start < length."""
        return _products(self)


def needed_macs(node: Node, macs: Dim) -> Dim:
    """Of the MACs of a node, those that are not with zero padding; all where that is not known."""
    place = CHANNELS_FIRST.get((node.domain, node.op_type))
    if place is None or not macs or node.attr("channels_last", 0):
        return macs
    try:
        axes = _axes(node, node.required(place).shape[2:])
    except (Unknown, ValueError):  # ValueError: of attributes that do not fit the shapes
        return macs
    if any(axis.stride < 1 or axis.dilation < 1 for axis in axes):
        return macs
    return macs // prod(axis.windows * axis.taps for axis in axes) * prod(axis.products for axis in axes)


def _axes(node: Node, kernel: Sequence[Dim]) -> list[Axis]:
    ones = [1] * len(kernel)
    transposed = node.op_type == "ConvTranspose"
    windows, length = (node.x, node.y) if transposed else (node.y, node.x)
    strides, dilations = node.attr("strides", ones), node.attr("dilations", ones)
    sizes = zip(windows.shape[2:], kernel, length.shape[2:], strides, dilations, strict=True)
    axes = [Axis(*each, start=0) for each in sizes]
    how = node.attr("auto_pad", "NOTSET")
    if how == "NOTSET" and not (transposed and node.attr("output_shape")):
        pads = node.attr("pads", [0, 0] * len(kernel))[: len(kernel)]
        return [axis._replace(start=pad) for axis, pad in zip(axes, pads, strict=True)]
    added = node.attr("output_padding", [0] * len(kernel)) if transposed else [0] * len(kernel)
    starts = [_start(how, axis, more) for axis, more in zip(axes, added, strict=True)]
    return [axis._replace(start=start) for axis, start in zip(axes, starts, strict=True)]


def _start(how: str, axis: Axis, added: int) -> int:
    """How ONNX splits the padding that the sizes call for: SAME_UPPER has the odd one at the end, others before."""
    width = (axis.windows - 1) * axis.stride + (axis.taps - 1) * axis.dilation + 1 + added
    total = 0 if how == "VALID" else max(0, width - axis.length)
    return total // 2 if how == "SAME_UPPER" else total - total // 2


@lru_cache(maxsize=4096)
def _products(axis: Axis) -> int:
    if axis.taps > axis.windows:  # both play the same part: the fewer are gone through
        return _products(
            axis._replace(windows=axis.taps, taps=axis.windows, stride=axis.dilation, dilation=axis.stride)
        )
    if axis.taps > MANY:
        return axis.windows * axis.taps
    return sum(_meeting(axis, axis.start - tap * axis.dilation) for tap in range(axis.taps))


def _meeting(axis: Axis, start: int) -> int:
    """Windows at whose place, so many strides from `start` before the first element, there is an element."""
    first, last = max(0, ceil_div(start, axis.stride)), min(axis.windows - 1, (axis.length - 1 + start) // axis.stride)
    return max(0, last - first + 1)

"""Windows that slide over spatial axes: which elements of the input they read.

A window that strides over input elements does not read them: the elements read along an axis are those that some
window covers.
"""

from __future__ import annotations

from collections.abc import Sequence

from neural_cost.analyzer.cost import Dim, minimum, prod
from neural_cost.analyzer.node import Node, Tensor


def covered(source: Dim, target: Dim, kernel: Dim, stride: int, dilation: int) -> Dim:
    """Count the elements of one axis that windows cover: `source` long, with `target` windows."""
    if dilation > 1:
        return minimum(source, target * kernel)
    return minimum(source, (target - 1) * minimum(kernel, stride) + kernel)


def elements_read(node: Node, source: Tensor, target: Tensor, kernel: Sequence[Dim], first: int = 2) -> Dim:
    """Count the input elements that windows cover, with spatial axes from `first` on."""
    ones = [1] * len(kernel)
    axes = zip(
        source.shape[first:],
        target.shape[first:],
        kernel,
        node.attr("strides", ones),
        node.attr("dilations", ones),
        strict=False,
    )
    return (
        prod(source.shape[:first]) * prod(covered(*axis) for axis in axes) * prod(source.shape[first + len(kernel) :])
    )

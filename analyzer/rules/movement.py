"""Operators that lay data out anew: traffic as `indexing` states it, and no arithmetic."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, minimum, prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.indexing import partial_read
from neural_cost.analyzer.rules.registry import cost


@cost("Concat", "DepthToSpace", "Expand", "SpaceToDepth", "Split", "Tile", "Transpose", "Trilu")
def copy(node: Node) -> Cost:
    """Cost reading every input once and writing every output once.

    Trilu counts both triangles as read: the other one shares its cache lines.
    """
    return node.cost()


@cost("Pad", "CenterCropPad")
def pad(node: Node) -> Cost:
    """Cost what is kept of the input; an axis that is cut is not read beyond the cut."""
    kept = prod(minimum(source, target) for source, target in zip(node.x.shape, node.y.shape, strict=True))
    return node.cost(read_bytes=partial_read(node, kept))


@cost("Col2Im")
def col2im(node: Node) -> Cost:
    """Cost one add for each column element: blocks that overlap are summed."""
    return node.cost(other_flops=node.x.size)

"""Operators that lay data out anew: traffic as `indexing` states it, and no arithmetic."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, minimum, prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.indexing import partial_read
from neural_cost.analyzer.rules.registry import cost


@cost("Concat", "DepthToSpace", "Expand", "SpaceToDepth", "Split", "Tile", "Transpose", "Trilu")
@cost("RestorePadding", "Trilu", "UnfoldTensor", domain="com.microsoft")
@cost("ReorderInput", "ReorderOutput", domain="com.microsoft.nchwc")
def copy(node: Node) -> Cost:
    """Cost reading every input once and writing every output once.

    Trilu counts both triangles as read: the other one shares its cache lines.
    """
    return node.cost()


@cost("Pad", "CenterCropPad")
@cost("Pad", domain="com.microsoft")
def pad(node: Node) -> Cost:
    """Cost what is kept of the input; an axis that is cut is not read beyond the cut."""
    kept = prod(minimum(source, target) for source, target in zip(node.x.shape, node.y.shape, strict=True))
    return node.cost(read_bytes=partial_read(node, kept))


@cost("Col2Im")
def col2im(node: Node) -> Cost:
    """Cost one add for each column element: blocks that overlap are summed."""
    return node.cost(other_flops=node.x.size)


@cost("RemovePadding", domain="com.microsoft")
def remove_padding(node: Node) -> Cost:
    """Cost what is kept; an add for each sequence and each place, to find the offsets."""
    counts, offsets = node.required(1), node.output(1)
    adds = counts.size + (offsets.size if offsets else 0)
    return node.cost(other_flops=adds, read_bytes=partial_read(node, node.y.size), other_type=counts.dtype)


@cost("ConvStateReplay", domain="com.microsoft")
def conv_state_replay(node: Node) -> Cost:
    """Cost a copy of the state that `metadata` describes: batch x channels x width, its fields 3 to 5."""
    metadata = node.required(3)
    moved = node.x.size_in_bytes(prod(metadata.ints()[3:6]))
    return node.cost(read_bytes=moved + metadata.bytes, write_bytes=moved)

"""Operators that lay elements out anew: the gradient is laid out the other way, and nothing is kept."""

from __future__ import annotations

from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.registry import lookup
from neural_cost.analyzer.training.registry import Gradient, Wants, backward


@backward("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Optional", "OptionalGetElement")
@backward("Transpose", "Concat", "Split", "Slice", "Trilu", "DepthToSpace", "SpaceToDepth", "ReverseSequence")
@backward("SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceAt", "SplitToSequence", "ConcatFromSequence")
@backward("Trilu", "ExpandDims", "SampleOp", domain="com.microsoft")
@backward("ReorderInput", "ReorderOutput", domain="com.microsoft.nchwc")
def laid_out(node: Node, wants: Wants) -> Gradient:
    """No arithmetic: what was taken apart is put together, and the other way round."""
    del node, wants
    return Gradient()


@backward("Expand", "Tile", "Pad", "CenterCropPad")
@backward("Pad", domain="com.microsoft")
def repeated(node: Node, wants: Wants) -> Gradient:
    """An add for each element that the output has more; a Pad of a constant drops them, or sums them for its value."""
    more = node.y.size - node.x.size
    if node.op_type == "CenterCropPad" or (node.op_type == "Pad" and node.attr("mode", "constant") == "constant"):
        return Gradient(other_flops=more - 1 if 2 in wants else 0)
    return Gradient(other_flops=more)


@backward("Resize", "Upsample")
@backward("Upsample", domain="com.microsoft.nchwc")
def resize(node: Node, wants: Wants) -> Gradient:
    """What each output element was made of, added back; to the nearest one it is one add."""
    del wants
    rule = lookup(node.domain, node.op_type, node.version)
    forward = rule.function(node) if rule else None
    nearest = node.attr("mode", "nearest") == "nearest"
    return Gradient(other_flops=node.y.size if nearest or forward is None else forward.other_flops)


@backward("UnfoldTensor", domain="com.microsoft")
def unfold(node: Node, wants: Wants) -> Gradient:
    """Windows overlap: an add for each element taken, into a gradient of zeros."""
    del wants
    return Gradient(other_flops=node.y.size)


@backward("RemovePadding", "RestorePadding", domain="com.microsoft")
def padding(node: Node, wants: Wants) -> Gradient:
    """Each token takes its gradient to its place; the places are kept."""
    del wants
    return Gradient(saves=(node.output(1) if node.op_type == "RemovePadding" else node.required(1),))


@backward("Col2Im")
def col2im(node: Node, wants: Wants) -> Gradient:
    """Each column element takes the gradient of its place."""
    del node, wants
    return Gradient()

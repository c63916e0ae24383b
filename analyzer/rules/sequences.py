"""Sequences of tensors.

The criterion of a view holds for them too: a sequence refers to its tensors, so putting one in, taking one out and
counting them move no tensor. Cutting a tensor into a sequence and joining one from it move every byte once.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.registry import cost


@cost("SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert")
def refer(node: Node) -> Cost:
    """Cost nothing: the same tensors in another list."""
    return node.cost(read_bytes=0, write_bytes=0)


@cost("SequenceLength")
def sequence_length(node: Node) -> Cost:
    """Cost writing the answer."""
    return node.cost(read_bytes=0)


@cost("SplitToSequence")
def split_to_sequence(node: Node) -> Cost:
    """Cost a copy of the tensor, in pieces."""
    return node.cost(write_bytes=node.x.bytes)


@cost("ConcatFromSequence")
def concat_from_sequence(node: Node) -> Cost:
    """Cost a copy of the pieces, in one tensor."""
    return node.cost(read_bytes=node.y.bytes)

"""Operators that take or put elements at positions: traffic, and no arithmetic but for reductions into place.

Conventions of traffic, for this module and `movement`:

- what is read is what the output takes: the rows of a Gather (never more than the table), what a Slice keeps;
- indices, and small inputs that say where (starts, axes, pads), are read once in full;
- what is written is the output, in full: a Scatter reads its data and writes a copy;
- arithmetic on positions is not counted anywhere.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, minimum
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.registry import cost


def partial_read(node: Node, elements: Dim) -> Dim:
    """Bytes read when the node uses so many elements of its first input, and all of the others."""
    x = node.x
    return x.size_in_bytes(minimum(x.size, elements)) + node.read_bytes - x.bytes


@cost("Gather", "GatherElements", "GatherND")
def gather(node: Node) -> Cost:
    """Cost the elements taken; a table smaller than what is taken from it is read once."""
    return node.cost(read_bytes=partial_read(node, node.y.size))


@cost("Slice", "Compress")
def keep(node: Node) -> Cost:
    """Cost what is kept."""
    return node.cost(read_bytes=partial_read(node, node.y.size))


@cost("Scatter", "ScatterElements", "ScatterND")
def scatter(node: Node) -> Cost:
    """Cost a copy of the data with updates put in, one FLOP for each update where it is combined with what is there."""
    combines = node.attr("reduction", "none") != "none"
    return node.cost(other_flops=node.required(2).size if combines else 0)


@cost("TensorScatter")
def tensor_scatter(node: Node) -> Cost:
    """Cost a copy of the cache with the update put in; what the update covers is not read from the cache."""
    cache, update = node.x, node.required(1)
    return node.cost(read_bytes=partial_read(node, cache.size - update.size))


@cost("OneHot")
def one_hot(node: Node) -> Cost:
    """Cost writing the output."""
    return node.cost()


@cost("NonZero")
def non_zero(node: Node) -> Cost:
    """Cost one comparison for each input element."""
    return node.cost(other_flops=node.x.size)


@cost("ReverseSequence")
def reverse_sequence(node: Node) -> Cost:
    """Cost a copy in another order."""
    return node.cost()

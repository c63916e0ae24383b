"""Operators that take or put elements at positions: traffic, and no arithmetic but for reductions into place.

Conventions of traffic, for this module and `movement`:

- what is read is what the output takes: the rows of a Gather (never more than the table), what a Slice keeps;
- indices, and small inputs that say where (starts, axes, pads), are read once in full;
- what is written is the output, in full: a Scatter reads its data and writes a copy;
- arithmetic on positions is not counted anywhere.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, ceil_div, minimum
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.registry import cost


def partial_read(node: Node, elements: Dim) -> Dim:
    """Bytes read when the node uses so many elements of its first input, and all of the others."""
    x = node.x
    return x.size_in_bytes(minimum(x.size, elements)) + node.read_bytes - x.bytes


@cost("Gather", "GatherElements", "GatherND")
@cost("GatherND", "TorchEmbedding", domain="com.microsoft")
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


@cost("GatherBlockQuantized", domain="com.microsoft")
def gather_block_quantized(node: Node) -> Cost:
    """Cost the packed elements taken, with the scale and zero point of each block, and dequantizing them.

    An element is converted, multiplied by its scale, and has its zero point subtracted where there are any. Values of
    fewer bits than a byte may be packed in uint8, `bits` each.
    """
    data, scales, zeros = node.x, node.required(2), node.input(3)
    size = node.y.size
    elements = ceil_div(size * node.attr("bits", 4), 8) if data.dtype == "uint8" else size
    block = node.attr("block_size", 128) or data.shape[node.attr("quantize_axis", 1)]
    blocks = ceil_div(size, block)
    read = data.size_in_bytes(minimum(data.size, elements)) + node.required(1).bytes
    read = read + scales.size_in_bytes(minimum(scales.size, blocks))
    if zeros:
        packed = ceil_div(blocks * node.attr("bits", 4), 8) if zeros.dtype == "uint8" else blocks
        read = read + zeros.size_in_bytes(minimum(zeros.size, packed))
    return node.cost(other_flops=size * (3 if zeros else 2), read_bytes=read, other_type=scales.dtype)


@cost("GatherPacked", domain="com.microsoft")
def gather_packed(node: Node) -> Cost:
    """Cost the packed rows taken, of so many bytes each, and a conversion and a scale for each element."""
    data, indices = node.x, node.required(1)
    taken = indices.size * data.shape[-1]
    return node.cost(other_flops=2 * node.y.size, read_bytes=partial_read(node, taken), other_type=node.y.dtype)

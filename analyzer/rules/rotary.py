"""Rotary position embeddings: pairs of elements are turned by an angle that their position gives.

A turned pair costs four multiplies and two adds, three FLOPs for each element; what lies beyond the rotary dimension
is copied. Cosines and sines are read once for each position that is taken from the caches, and never more than those
hold. A head's elements are known from the shape (batch, heads, sequence, head), or from `num_heads` without it.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, minimum, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.normalization import affine, divide_by_rms
from neural_cost.analyzer.rules.registry import cost

TURN = 3
"""FLOPs for each element that is turned."""


def turned(node: Node) -> Dim:
    """Count the elements of the first input that are turned."""
    rotary: int = node.attr("rotary_embedding_dim", 0)
    if not rotary:
        return node.x.size
    heads: int = 1 if node.x.rank == 4 else node.attr("num_heads", 1)
    return prod(node.x.shape[:-1]) * heads * rotary


def _positions(x: Tensor) -> Dim:
    return x.shape[0] * x.shape[2] if x.rank == 4 else prod(x.shape[:-1])


def _cost(node: Node, cosines: Tensor, sines: Tensor, positions: Tensor | None) -> Cost:
    caches = cosines.bytes + sines.bytes
    if positions is not None:
        taken = _positions(node.x) * cosines.shape[-1]
        caches = sum(cache.size_in_bytes(minimum(taken, cache.size)) for cache in (cosines, sines))
        caches = caches + positions.bytes
    return node.cost(other_flops=TURN * turned(node), read_bytes=node.x.bytes + caches)


@cost("RotaryEmbedding")
def rotary_embedding(node: Node) -> Cost:
    """Cost turning; without position ids the caches have a row for each position already."""
    return _cost(node, node.required(1), node.required(2), node.input(3))


@cost("RotaryEmbedding", "MRotaryEmbedding", domain="com.microsoft")
def contrib_rotary_embedding(node: Node) -> Cost:
    """Cost turning; the multimodal form takes each part of a position's row by another one of three positions."""
    return _cost(node, node.required(2), node.required(3), node.required(1))


@cost("GemmaRotaryEmbedding", domain="com.microsoft")
def gemma_rotary_embedding(node: Node) -> Cost:
    """Cost sine and cosine of each angle, both converted, then q * cos + q_rot * sin, and the same for k."""
    angles = node.x.size
    query, key = node.required(1), node.required(3)
    flops = 4 * angles + TURN * (query.size + key.size)
    return node.cost(other_flops=flops, special_ops=2 * angles, other_type=query.dtype)


@cost("RMSNormRotary", domain="com.microsoft")
def rms_norm_rotary(node: Node) -> Cost:
    """Cost an RMS norm of a slice of each head, its scale, and turning the rotary part of that."""
    rows = prod(node.x.shape[:-1])
    elements = rows * (node.attr("input_width", 0) or node.x.shape[-1])
    work = divide_by_rms(elements, rows)
    flops = work.flops + affine(elements, node.input(1)) + TURN * rows * node.required_attr("rotary_embedding_dim")
    read = node.x.size_in_bytes(elements) + node.read_bytes - node.x.bytes
    return node.cost(other_flops=flops, special_ops=work.special, read_bytes=read, other_type="float32")

"""Attention of com.microsoft over whole batches: projected inside or before, grouped heads, caches.

As in `attention`: full products, whatever the mask. A score is multiplied by the scale; then softcap, one add of a
bias, one add where anything masks, and softmax. Sines and cosines of a rotary embedding come from a table: each
rotated element is two multiplies and an add.

A cache that grows is read whole and written whole. One that shares its buffer with its successor is as long as its
capacity: then only the tokens that it holds are read, only the new ones written, and their number must be known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.activations import SOFTMAX, PerElement, then
from neural_cost.analyzer.rules.attention import SOFTCAP, Causal, scaled_dot_product
from neural_cost.analyzer.rules.registry import cost

ROTARY = PerElement(3)
"""x * cos - y * sin, or x * sin + y * cos."""


def per_score(node: Node, *, masked: bool, biased: bool) -> PerElement:
    """Count what happens to one score between the products."""
    softcap = SOFTCAP if node.attr("softcap", 0.0) else PerElement(0)
    return PerElement(1) + softcap + PerElement(masked + biased) + SOFTMAX


def unidirectional(node: Node, queries: Dim, before: Dim) -> Causal | None:
    """The triangle of a causal node, whose first query meets the tokens before it and itself."""
    return Causal(queries, before + 1) if node.attr("unidirectional", 0) else None


def bytes_of_tokens(cache: Tensor, tokens: Dim, axis: int = -2) -> Dim:
    """Bytes of so many tokens of a cache that has room for more along that axis."""
    axis %= cache.rank
    return cache.size_in_bytes(prod(dim for place, dim in enumerate(cache.shape) if place != axis) * tokens)


def share_buffer(
    result: Cost, pasts: Sequence[Tensor | None], presents: Sequence[Tensor | None], past: Dim, new: Dim
) -> Cost:
    """Correct the traffic of caches that share their buffers: `past` tokens are read, `new` ones written."""
    unread = sum((cache.bytes - bytes_of_tokens(cache, past) for cache in pasts if cache), 0)
    unwritten = sum((cache.bytes - bytes_of_tokens(cache, new) for cache in presents if cache), 0)
    return replace(result, read_bytes=result.read_bytes - unread, write_bytes=result.write_bytes - unwritten)


def shared_length(node: Node, position: int) -> Dim:
    """Read how many tokens a shared buffer holds. Raises Unknown where that is not known before a run."""
    length = node.input(position)
    if length is None:
        raise Unknown("how many tokens its shared cache holds is not known before a run")
    return length.ints()[0]


@cost("Attention", "DecoderMaskedSelfAttention", domain="com.microsoft")
def merged_attention(node: Node) -> Cost:
    """Cost the projection of (batch, tokens, width) to Q, K and V by one weight, its bias, and self-attention."""
    x, weights, past = node.x, node.required(1), node.input(4)
    tokens = x.shape[0] * x.shape[1]
    sizes = node.attr("qkv_hidden_sizes")
    hidden = sizes[0] if sizes else weights.shape[1] // 3
    shared = past is not None and node.attr("past_present_share_buffer", 0)
    before = shared_length(node, 6) if shared else past.shape[3] if past else 0
    heads = node.required_attr("num_heads")
    result = scaled_dot_product(
        node,
        query=tokens * hidden,
        output=node.y.size,
        rows=tokens * heads,
        keys=before + x.shape[1],
        causal=unidirectional(node, x.shape[1], before),
        per_score=per_score(
            node, masked=bool(node.input(3) or node.attr("unidirectional", 0)), biased=node.input(5) is not None
        ),
        other_flops=tokens * weights.shape[1] if node.input(2) else 0,
        macs=x.size * weights.shape[1],
    )
    if node.attr("do_rotary", 0):
        width = node.attr("rotary_embedding_dim", 0)
        result = then(result, ROTARY, 2 * tokens * (heads * width if width else hidden))
    return share_buffer(result, [past], [node.output(1)], before, x.shape[1]) if shared else result


@cost("MultiHeadAttention", domain="com.microsoft")
def multi_head_attention(node: Node) -> Cost:
    """Cost attention over projected Q, K, V: apart, or packed as (batch, tokens, heads, 3 or 2, head).

    K and V of four dimensions are those of a cache: they have their bias already.
    """
    q, k = node.x, node.input(1)
    query = prod(q.shape[:3]) * q.shape[4] if q.rank == 5 else q.size
    new = k.shape[2 if k.rank == 4 else 1] if k else q.shape[1]
    past = node.input(6)
    shared = past is not None and node.input(8) is not None
    before = shared_length(node, 8) if shared else past.shape[2] if past else 0
    result = scaled_dot_product(
        node,
        query=query,
        output=node.y.size,
        rows=q.shape[0] * node.required_attr("num_heads") * q.shape[1],
        keys=before + new,
        causal=unidirectional(node, q.shape[1], before),
        per_score=per_score(
            node, masked=bool(node.input(4) or node.attr("unidirectional", 0)), biased=node.input(5) is not None
        ),
        other_flops=_projection_biases(node) if node.input(3) else 0,
    )
    if not shared:
        return result
    return share_buffer(result, [past, node.input(7)], [node.output(1), node.output(2)], before, new)


def _projection_biases(node: Node) -> Dim:
    """Count one add for each new element of Q, K and V."""
    given = [node.x, node.input(1), node.input(2)]
    return sum((tensor.size for tensor in given if tensor and tensor.rank != 4), 0)


@cost("DecoderMaskedMultiHeadAttention", domain="com.microsoft")
def decoder_masked_multi_head_attention(node: Node) -> Cost:
    """Cost attention of one new token, over its cache, or over K and V of four dimensions from an encoder.

    Without K, Q is packed as [Q, K, V] along its last axis. The beams do not change what is computed.
    """
    q, k, past = node.x, node.input(1), node.input(5)
    crosses = k is not None and k.rank == 4
    hidden = q.shape[-1] if k else (q.shape[-1] - node.y.shape[-1]) // 2
    tokens = q.shape[0] * q.shape[1]
    shared = not crosses and past is not None and node.attr("past_present_share_buffer", 0)
    before = shared_length(node, 7) if shared else past.shape[2] if past and not crosses else 0
    width = hidden + (0 if crosses else hidden + node.y.shape[-1])
    result = scaled_dot_product(
        node,
        query=tokens * hidden,
        output=node.y.size,
        rows=tokens * node.required_attr("num_heads"),
        keys=k.shape[2] if k and crosses else before + q.shape[1],
        per_score=per_score(node, masked=node.input(3) is not None, biased=node.input(4) is not None),
        other_flops=tokens * width if node.input(10) else 0,
    )
    if not shared:
        return result
    return share_buffer(result, [past, node.input(6)], [node.output(1), node.output(2)], before, q.shape[1])


@cost("PackedAttention", domain="com.microsoft")
def packed_attention(node: Node) -> Cost:
    """Cost PackedMultiHeadAttention after a projection of the real tokens alone."""
    x, weights, places = node.x, node.required(1), node.required(3)
    sizes = node.attr("qkv_hidden_sizes")
    hidden = sizes[0] if sizes else weights.shape[1] // 3
    return _packed(
        node,
        places,
        hidden,
        biased=node.input(5) is not None,
        adds=x.shape[0] * weights.shape[1],
        macs=x.size * weights.shape[1],
    )


@cost("PackedMultiHeadAttention", domain="com.microsoft")
def packed_multi_head_attention(node: Node) -> Cost:
    """Cost attention over sequences that are stored without their padding.

    Lengths are not discounted: the products are those of (batch, sequence), the shape that the tokens had.
    """
    q = node.x
    hidden = q.shape[1] * q.shape[3] if q.rank == 4 else q.shape[1]
    given = [q, node.input(1), node.input(2)]
    adds = sum((tensor.size for tensor in given if tensor), 0) if node.input(3) else 0
    return _packed(node, node.required(4), hidden, biased=node.input(6) is not None, adds=adds)


def _packed(node: Node, places: Tensor, hidden: Dim, *, biased: bool, adds: Dim, macs: Dim = 0) -> Cost:
    batch, sequence = places.shape
    return scaled_dot_product(
        node,
        query=places.size * hidden,
        output=places.size * node.y.shape[-1],
        rows=batch * node.required_attr("num_heads") * sequence,
        keys=sequence,
        per_score=per_score(node, masked=True, biased=biased),
        other_flops=adds,
        macs=macs,
    )


@cost("DecoderAttention", domain="com.microsoft")
def decoder_attention(node: Node) -> Cost:
    """Cost projection and attention over (tokens, batch, width), self or cross, with or without a cache.

    Which, four flags say that are inputs: unknown where their values are. Self-attention projects K and V from the
    query, cross-attention from the key, or with a cache not at all, and then reads neither the key nor its weight.
    """
    q, k, cache = node.x, node.required(1), node.input(6)
    crosses, cached, layered, masked = (bool(node.required(index).ints()[0]) for index in (8, 9, 10, 11))
    tokens, batch, hidden = q.shape
    before = cache.shape[2] if cache and cached and layered else 0
    new = 0 if crosses and cached and layered else k.shape[0] if crosses else tokens
    projected = q.size + 2 * new * batch * hidden
    result = scaled_dot_product(
        node,
        query=q.size,
        output=node.y.size,
        rows=tokens * batch * node.required_attr("num_heads"),
        keys=before + new,
        per_score=per_score(node, masked=masked, biased=False),
        other_flops=projected,
        macs=projected * hidden,
    )
    unused = [k, node.required(3)] if crosses and cached and layered else []
    return replace(result, read_bytes=result.read_bytes - sum(tensor.bytes for tensor in unused))

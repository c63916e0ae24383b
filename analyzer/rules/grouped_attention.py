"""Attention with grouped heads of com.microsoft, as decoders of language models have it: GroupQueryAttention, and
PagedAttention over packed tokens and a cache in pages.

Beside what `contrib_attention` says of scores, caches and rotary embeddings: heads may be normalized by their root
mean square before they are rotated; a sink takes part in each softmax without a value (max, subtract, exp, add); a
quantized cache quantizes new keys and values (divide, round, clamp, convert) and dequantizes all (convert, multiply).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from neural_cost.analyzer.cost import Cost, Dim, minimum
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.activations import PerElement, then
from neural_cost.analyzer.rules.attention import Causal, scaled_dot_product
from neural_cost.analyzer.rules.contrib_attention import ROTARY, bytes_of_tokens, per_score, share_buffer
from neural_cost.analyzer.rules.normalization import affine, divide_by_rms
from neural_cost.analyzer.rules.registry import cost

SINK = PerElement(4, 1)
QUANTIZE = PerElement(5, 1)
DEQUANTIZE = PerElement(2)


class Heads(NamedTuple):
    """Query heads, heads of keys and values, and the size of one."""

    query: int
    shared: int
    size: Dim


def prepare(result: Cost, node: Node, heads: Heads, tokens: Dim, *, norm: Tensor | None, tables: int) -> Cost:
    """Add the normalization of new queries and keys where there is a scale for it, and their rotation.

    Cosines and sines, (positions, rotated / 2), are the inputs at `tables` and after it. Of each, a row for each
    token is read; what a row does not reach of a head is not rotated.
    """
    rows = tokens * (heads.query + heads.shared)
    if norm:
        work = divide_by_rms(rows * heads.size, rows)
        result = replace(
            result,
            other_flops=result.other_flops + work.flops + affine(rows * heads.size, norm),
            special_ops=result.special_ops + work.special,
        )
    cosines, sines = node.input(tables), node.input(tables + 1)
    if not (node.attr("do_rotary", 0) and cosines and sines):
        return result
    unread = sum(table.bytes - table.size_in_bytes(_taken(table, tokens)) for table in (cosines, sines))
    result = replace(result, read_bytes=result.read_bytes - unread)
    return then(result, ROTARY, rows * 2 * cosines.shape[-1])


def _taken(table: Tensor, tokens: Dim) -> Dim:
    """Count the elements of a table that a row for each token takes, at most all."""
    return minimum(tokens * table.shape[-1], table.size)


def quantize_cache(result: Cost, node: Node, new: Dim, held: Dim) -> Cost:
    """Add the quantizing of so many new elements and the dequantizing of so many held ones, of K and of V alike."""
    for attribute in ("k_quant_type", "v_quant_type"):
        if node.attr(attribute, "NONE") != "NONE":
            result = then(then(result, QUANTIZE, new), DEQUANTIZE, held)
    return result


@cost("GroupQueryAttention", domain="com.microsoft")
def group_query_attention(node: Node) -> Cost:
    """Cost attention of (batch, tokens, heads * head) over a cache of (batch, shared heads, tokens, head).

    Without K, Q is packed as [Q, K, V] along its last axis. Queries padded at the right count in full.
    """
    q, k, past = node.x, node.input(1), node.input(3)
    batch, tokens = q.shape[0], q.shape[1]
    heads = _heads(node)
    new = k.shape[1] if k else tokens
    keys, shared = _keys(node, past, new)
    result = scaled_dot_product(
        node,
        query=node.y.size,  # heads of V are as wide as those of Q
        output=node.y.size,
        rows=batch * tokens * heads.query,
        keys=keys,
        causal=Causal(tokens, keys - new + 1),
        per_score=per_score(node, masked=True, biased=node.input(10) is not None),
    )
    result = prepare(result, node, heads, batch * tokens, norm=node.input(14), tables=7)
    if node.input(11) or node.attr("smooth_softmax", -1) == 1:
        result = then(result, SINK, batch * tokens * heads.query)
    row = batch * heads.shared * heads.size
    result = quantize_cache(result, node, new * row, keys * row)
    if not shared:
        return result
    return share_buffer(result, [past, node.input(4)], [node.output(1), node.output(2)], keys - new, new)


def _heads(node: Node) -> Heads:
    query = node.required_attr("num_heads")
    return Heads(query, node.required_attr("kv_num_heads"), node.y.shape[-1] // query)


def _keys(node: Node, past: Tensor | None, new: Dim) -> tuple[Dim, bool]:
    """Find how many keys each query meets, and whether the cache shares its buffer.

    It does where the present is as long as the past: then only `total_sequence_length` tells how much of it is filled.
    """
    if node.attr("sliding_window_cache", 0):
        raise Unknown("how much of its window cache is filled is not known before a run")
    total, present = node.required(6), node.output(1)
    if past is None:
        return new, False
    if present is None or present.shape[2] == past.shape[2]:
        return total.ints()[0], True
    return past.shape[2] + new, False


@cost("PagedAttention", domain="com.microsoft")
def paged_attention(node: Node) -> Cost:
    """Cost attention of packed tokens over pages of (blocks, tokens of a block, shared heads, head).

    Each sequence has its own length: a query meets the past and the new tokens of its own. Their numbers are values
    of inputs; where those are not known before a run, neither is the cost. Of the pages, the past tokens are read and
    the new ones written. LATENT keeps one row for K and V, V being the first channels of K.
    """
    past = node.required(6).ints()
    bounds = node.required(5).ints()
    new = [end - start for start, end in pairwise(bounds)]
    if len(new) != len(past):
        raise Unknown("its sequence lengths do not fit each other", node.required(6).name)
    each = zip(past, new, strict=True)
    if node.causal_half:
        pairs = sum(Causal(count, before + 1).twice_the_pairs(before + count) // 2 for before, count in each)
    else:
        pairs = sum(count * (before + count) for before, count in each)
    heads = Heads(node.required_attr("num_heads"), node.required_attr("kv_num_heads"), _paged_head_size(node))
    value_size = node.y.shape[-1] // heads.query
    result = scaled_dot_product(
        node,
        query=heads.query * heads.size,
        output=heads.query * value_size,
        rows=heads.query,
        keys=pairs,
        per_score=per_score(node, masked=True, biased=False),
    )
    tokens = sum(new)
    result = prepare(result, node, heads, tokens, norm=node.input(12), tables=8)
    if node.input(11):
        result = then(result, SINK, tokens * heads.query)
    row = heads.shared * heads.size
    result = quantize_cache(result, node, tokens * row, (sum(past) + tokens) * row)
    return _share_pages(result, node, sum(past), tokens)


def _paged_head_size(node: Node) -> Dim:
    """Find the size of a head of queries: without K, the last axis holds the heads of Q, K and V."""
    heads: int = node.required_attr("num_heads")
    if node.input(1) is None:
        heads += 2 * node.required_attr("kv_num_heads")
    return node.x.shape[-1] // heads


def _share_pages(result: Cost, node: Node, past: Dim, new: Dim) -> Cost:
    """Correct the traffic of pages: tokens lie along their first two axes, and only some of them are touched."""
    reads = [cache for cache in (node.input(3), node.input(4)) if cache]
    writes = [cache for cache in (node.output(1), node.output(2)) if cache]
    return replace(
        result,
        read_bytes=result.read_bytes - sum(_untouched(cache, past) for cache in reads),
        write_bytes=result.write_bytes - sum(_untouched(cache, new) for cache in writes),
    )


def _untouched(cache: Tensor, tokens: Dim) -> Dim:
    """Bytes of pages beyond those of so many tokens."""
    return cache.bytes - bytes_of_tokens(cache, tokens, axis=0) // cache.shape[1]

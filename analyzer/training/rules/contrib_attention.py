"""Attention of com.microsoft, by the products of `attention`: projections, packed operands, grouped heads.

A score has the 4 FLOPs of its softmax, 4 of a softcap, and one where a bias that is added to it needs its gradient; Q's
gradient is scaled. The scores' softmax is kept, and with a softcap what came before it. A cache stands before the new
keys and values: all of them meet the queries, and the gradients of old and new are one product. A cache that shares its
buffer with its successor is overwritten in later calls: with one, nothing is known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from neural_cost.analyzer.cost import Dim, prod
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.attention import Causal
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward
from neural_cost.analyzer.training.rules.attention import part

DOMAIN = "com.microsoft"


class Scores(NamedTuple):
    """One attention: elements of Q and of what it gives, and what meets what.

    Attributes:
        q, k, v: positions of the inputs that hold them; one that is packed holds several.
        rows: softmaxes, each over so many `keys`.
        bias: position of what is added to the scores.
        past_k, past_v: positions of a cache.
        causal: the triangle, where only that is counted.
        sink: position of a score that each softmax has beside, without a value; `sinks` is 1 where there is one.
    """

    query: Dim
    output: Dim
    rows: Dim
    keys: Dim
    q: int = 0
    k: int = 1
    v: int = 2
    bias: int = -1
    past_k: int = -1
    past_v: int = -1
    causal: Causal | None = None
    sink: int = -1
    sinks: int = 0


def back(node: Node, wants: Wants, of: Scores, *, other_flops: Dim = 0) -> Gradient:
    """The products of scores and of values back; `other_flops` are those of what surrounds them."""
    of_scores, of_values, scores = (part(each * of.keys, of.keys, of.causal) for each in (of.query, of.output, of.rows))
    macs: dict[int, Dim] = {}
    for at, past, product in ((of.q, of.q, of_scores), (of.k, of.past_k, of_scores), (of.v, of.past_v, of_values)):
        if wants & {at, past}:
            macs[at] = macs.get(at, 0) + product
    needed = bool(wants & {of.q, of.k, of.past_k, of.bias, of.sink})
    capped = bool(node.attr("softcap", 0.0))
    more = (4 if capped else 0) + (1 if of.bias in wants else 0)
    flops = (scores + of.rows * of.sinks) * 4 + scores * more + of.query
    full = of.rows * of.keys
    return Gradient(
        macs=macs,
        inner_macs=of_values if needed else 0,
        other_flops=other_flops + (flops if needed else 0),
        saves=tuple(node.input(at) for at in dict.fromkeys((of.q, of.k, of.v, of.past_k, of.past_v)) if at >= 0),
        kept=(Kept(full + of.rows * of.sinks + (full if capped else 0), node.x.dtype or "float32", precise=False),),
    )


def _unidirectional(node: Node, queries: Dim, before: Dim) -> Causal | None:
    causal = node.attr("unidirectional", 0) or node.op_type == "GroupQueryAttention"
    return Causal(queries, before + 1) if causal and node.causal_half else None


def _refuse_shared(*, shares: bool) -> None:
    if shares:
        raise Unknown("its backward cost is known without a cache that shares its buffer with its successor")


@backward("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(node: Node, wants: Wants) -> Gradient:
    """Q, K and V apart, K and V of four dimensions too, or packed as (batch, tokens, heads, 3 or 2, head)."""
    q, k, v, past = node.x, node.input(1), node.input(2), node.input(6)
    _refuse_shared(shares=past is not None and node.input(8) is not None)
    query = prod(q.shape[:3]) * q.shape[4] if q.rank == 5 else q.size
    before = past.shape[2] if past else 0
    keys = before + (k.shape[2 if k.rank == 4 else 1] if k else q.shape[1])
    rows = q.shape[0] * node.required_attr("num_heads") * q.shape[1]
    if 3 in wants and not wants >= {0} | ({1} if k else set()) | ({2} if v else set()):
        raise Unknown("its backward cost is known where a bias needs a gradient and what it is added to does as well")
    biased = [tensor for tensor in (q, k, v) if tensor is not None and tensor.rank != 4] if 3 in wants else []
    biases = sum((tensor.size for tensor in biased), 0) - (node.required(3).size if 3 in wants else 0)
    at_k = 1 if k else 0
    causal = _unidirectional(node, q.shape[1], before)
    at = {"k": at_k, "v": 2 if v else at_k, "bias": 5, "past_k": 6, "past_v": 7}
    return back(node, wants, Scores(query, node.y.size, rows, keys, causal=causal, **at), other_flops=biases)


@backward("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(node: Node, wants: Wants) -> Gradient:
    """Heads of keys shared by a group of queries, Q packed as [Q, K, V] without K.

    A rotation is turned back, norms of heads go back, and a sink sums the softmax's gradient of its score.
    """
    q, k, v, past, present = node.x, node.input(1), node.input(2), node.input(3), node.output(1)
    if node.attr("sliding_window_cache", 0) or {node.attr(f"{each}_quant_type", "NONE") for each in "kv"} != {"NONE"}:
        raise Unknown("its backward cost is known without a window cache, and without a quantized one")
    _refuse_shared(
        shares=past is not None and past.size != 0 and (present is None or present.shape[2] == past.shape[2])
    )
    heads, shared = node.required_attr("num_heads"), node.required_attr("kv_num_heads")
    tokens = q.shape[0] * q.shape[1]
    before = past.shape[2] if past else 0
    keys = before + (k.shape[1] if k else q.shape[1])
    rows = tokens * heads
    at_k = 1 if k else 0
    rotated = 0
    if node.attr("do_rotary", 0) and node.input(7) is not None and wants & {0, 1}:
        rotated = 3 * tokens * (heads + shared) * 2 * node.required(7).shape[-1]
    sinks = rows - node.required(11).size if 11 in wants else 0
    at = {"k": at_k, "v": 2 if v else at_k, "bias": 10, "past_k": 3, "past_v": 4}
    beside = 1 if node.input(11) or node.attr("smooth_softmax", -1) == 1 else 0
    causal = _unidirectional(node, q.shape[1], before)
    scores = Scores(node.y.size, node.y.size, rows, keys, causal=causal, sink=11, sinks=beside, **at)
    found = back(node, wants, scores, other_flops=rotated + sinks)
    return found if node.input(14) is None else _through_norms(node, wants, found, tokens * (heads + shared))


def _through_norms(node: Node, wants: Wants, found: Gradient, rows: Dim) -> Gradient:
    """Back through the norms of new queries and keys, a row for each head of a token, as an RMSNormalization."""
    normed = rows * (node.y.shape[-1] // node.required_attr("num_heads"))
    passes, scaled = bool(wants & {0, 1}), bool(wants & {14, 15})
    if wants & {14, 15} and not wants >= {14, 15}:
        raise Unknown("its backward cost is known where both norms of heads are trained, or none")
    each = (6 + 1 if passes else 1 if scaled else 0) + (2 if scaled else 0)
    divisions = rows if passes else 0
    like = Kept(normed, node.x.dtype or "float32", precise=False)
    return replace(
        found,
        other_flops=found.other_flops + normed * each + divisions,
        special_ops=found.special_ops + divisions,
        kept=(*found.kept, like, Kept(rows, "float32")) if passes or scaled else found.kept,
    )


@backward("Attention", domain=DOMAIN)
def merged_attention(node: Node, wants: Wants) -> Gradient:
    """Q, K and V are projected from x by one weight, and kept; a rotation is turned back."""
    x, weights, past = node.x, node.required(1), node.input(4)
    _refuse_shared(shares=past is not None and bool(node.attr("past_present_share_buffer", 0)))
    if 4 in wants and not wants & {0, 1, 2}:
        raise Unknown("its backward cost is known where more than its cache needs a gradient")
    tokens, heads = x.shape[0] * x.shape[1], node.required_attr("num_heads")
    hidden, before = _hidden(node, weights), past.shape[3] if past else 0
    causal = _unidirectional(node, x.shape[1], before)
    scores = Scores(tokens * hidden, node.y.size, tokens * heads, before + x.shape[1], bias=5, causal=causal)
    width = node.attr("rotary_embedding_dim", 0)
    turned = 2 * tokens * (heads * width if width else hidden) if node.attr("do_rotary", 0) else 0
    found = _projected(node, wants, scores, tokens)
    return replace(found, other_flops=found.other_flops + 3 * turned, saves=(*found.saves, past))


@backward("PackedAttention", domain=DOMAIN)
def packed_attention(node: Node, wants: Wants) -> Gradient:
    """The same over real tokens; the products are those of (batch, sequence), as forward."""
    places, weights = node.required(3), node.required(1)
    batch, sequence = places.shape
    rows = batch * node.required_attr("num_heads") * sequence
    query, output = places.size * _hidden(node, weights), places.size * node.y.shape[-1]
    return _projected(node, wants, Scores(query, output, rows, sequence, bias=5), node.x.shape[0])


def _hidden(node: Node, weights: Tensor) -> Dim:
    """Columns of Q."""
    sizes = node.attr("qkv_hidden_sizes")
    return sizes[0] if sizes else weights.shape[1] // 3


def _projected(node: Node, wants: Wants, scores: Scores, tokens: Dim) -> Gradient:
    """The products of a projection by one weight around those of an attention, which all its inputs need."""
    x, weights = node.x, node.required(1)
    columns = weights.shape[1]
    inside = frozenset((0, 1, 2)) | (wants & {scores.bias})  # Q, K and V are inside the operator
    found = back(node, inside, scores, other_flops=tokens * columns - columns if 2 in wants else 0)
    macs: dict[int, Dim] = {at: x.size * columns for at in (0, 1) if at in wants}
    projected = Kept(tokens * columns, x.dtype or "float32", precise=False)
    return Gradient(
        macs=macs,
        inner_macs=found.inner_macs + sum(found.macs.values()),
        other_flops=found.other_flops,
        saves=(x if 1 in wants else None, weights if 0 in wants else None),
        kept=(projected, *found.kept),
    )


@backward("PackedMultiHeadAttention", domain=DOMAIN)
def packed_multi_head_attention(node: Node, wants: Wants) -> Gradient:
    """Over sequences without their padding, Q, K and V apart or packed; products of (batch, sequence), as forward."""
    q, k, v, places = node.x, node.input(1), node.input(2), node.required(4)
    if 3 in wants:
        raise Unknown("its backward cost is known without a bias that needs a gradient")
    batch, sequence = places.shape
    hidden = q.shape[1] * q.shape[3] if q.rank == 4 else q.shape[1]
    rows = batch * node.required_attr("num_heads") * sequence
    at_k = 1 if k else 0
    scores = Scores(
        places.size * hidden, places.size * node.y.shape[-1], rows, sequence, k=at_k, v=2 if v else at_k, bias=6
    )
    return back(node, wants, scores)

"""Attention of com.microsoft, by the products of `attention`: projections, packed operands, grouped heads.

A score has the 4 FLOPs of its softmax, 4 of a softcap, and one where a bias that is added to it needs its gradient; Q's
gradient is scaled. The scores' softmax is kept, and with a softcap what came before it. A cache holds keys of other
passes, so none of these is known with one.
"""

from __future__ import annotations

from typing import NamedTuple

from neural_cost.analyzer.cost import Dim, prod
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward

DOMAIN = "com.microsoft"


class Scores(NamedTuple):
    """One attention: elements of Q and of what it gives, and what meets what.

    Attributes:
        q, k, v: positions of the inputs that hold them; one that is packed holds several.
        rows: softmaxes, each over so many `keys`.
        bias: position of what is added to the scores.
    """

    query: Dim
    output: Dim
    rows: Dim
    keys: Dim
    q: int = 0
    k: int = 1
    v: int = 2
    bias: int = -1


def back(node: Node, wants: Wants, of: Scores, *, other_flops: Dim = 0) -> Gradient:
    """The products of scores and of values back; `other_flops` are those of what surrounds them."""
    of_scores, of_values = of.query * of.keys, of.output * of.keys
    macs: dict[int, Dim] = {}
    for at, product in ((of.q, of_scores), (of.k, of_scores), (of.v, of_values)):
        if at in wants:
            macs[at] = macs.get(at, 0) + product
    needed = bool(wants & {of.q, of.k, of.bias})
    capped = bool(node.attr("softcap", 0.0))
    scores = of.rows * of.keys
    each = 4 + (4 if capped else 0) + (1 if of.bias in wants else 0)
    return Gradient(
        macs=macs,
        inner_macs=of_values if needed else 0,
        other_flops=other_flops + (scores * each + of.query if needed else 0),
        saves=tuple(node.input(at) for at in dict.fromkeys((of.q, of.k, of.v))),
        kept=(Kept(scores * (2 if capped else 1), node.x.dtype or "float32", precise=False),),
    )


def _check(node: Node, *caches: int) -> None:
    if any(node.input(at) is not None for at in caches):
        raise Unknown("its backward cost is known without a cache of keys and values")
    if node.causal_half and (node.attr("unidirectional", 0) or node.op_type == "GroupQueryAttention"):
        raise Unknown("its backward cost is known for causal attention in full")


@backward("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(node: Node, wants: Wants) -> Gradient:
    """Q, K and V apart, K and V of four dimensions too, or packed as (batch, tokens, heads, 3 or 2, head)."""
    _check(node, 6, 7)
    q, k, v = node.x, node.input(1), node.input(2)
    query = prod(q.shape[:3]) * q.shape[4] if q.rank == 5 else q.size
    keys = k.shape[2 if k.rank == 4 else 1] if k else q.shape[1]
    rows = q.shape[0] * node.required_attr("num_heads") * q.shape[1]
    if 3 in wants and not wants >= {0} | ({1} if k else set()) | ({2} if v else set()):
        raise Unknown("its backward cost is known where a bias needs a gradient and what it is added to does as well")
    biased = [tensor for tensor in (q, k, v) if tensor is not None and tensor.rank != 4] if 3 in wants else []
    biases = sum((tensor.size for tensor in biased), 0) - (node.required(3).size if 3 in wants else 0)
    at_k = 1 if k else 0
    scores = Scores(query, node.y.size, rows, keys, k=at_k, v=2 if v else at_k, bias=5)
    return back(node, wants, scores, other_flops=biases)


@backward("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(node: Node, wants: Wants) -> Gradient:
    """Heads of keys shared by a group of queries, Q packed as [Q, K, V] without K; a rotation is turned back."""
    past = node.input(3)
    if past is not None and past.size != 0:
        raise Unknown("its backward cost is known without a cache of keys and values")
    _check(node)
    if node.input(14) is not None or node.input(11) is not None:
        raise Unknown("its backward cost is known without norms of heads, and without a sink")
    q, k, v = node.x, node.input(1), node.input(2)
    heads, shared = node.required_attr("num_heads"), node.required_attr("kv_num_heads")
    tokens = q.shape[0] * q.shape[1]
    keys = k.shape[1] if k else q.shape[1]
    rotated = 0
    if node.attr("do_rotary", 0) and node.input(7) is not None and wants & {0, 1}:
        rotated = 3 * tokens * (heads + shared) * 2 * node.required(7).shape[-1]
    at_k = 1 if k else 0
    scores = Scores(node.y.size, node.y.size, tokens * heads, keys, k=at_k, v=2 if v else at_k, bias=10)
    return back(node, wants, scores, other_flops=rotated)


@backward("Attention", domain=DOMAIN)
def merged_attention(node: Node, wants: Wants) -> Gradient:
    """Q, K and V are projected from x by one weight, and kept."""
    _check(node, 4)
    if node.attr("do_rotary", 0):
        raise Unknown("its backward cost is known without a rotary embedding")
    x, weights = node.x, node.required(1)
    tokens = x.shape[0] * x.shape[1]
    rows = tokens * node.required_attr("num_heads")
    scores = Scores(tokens * _hidden(node, weights), node.y.size, rows, x.shape[1], bias=5)
    return _projected(node, wants, scores, tokens)


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

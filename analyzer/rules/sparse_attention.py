"""Attention to some of the keys, and biases by relative position.

Which keys a query meets is here no mask over a full product: the rest is never multiplied. It counts where the graph
tells it (a block layout in a constant), and is unknown where a run decides it.
"""

from __future__ import annotations

import operator
from itertools import pairwise

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.activations import PerElement, activation, then
from neural_cost.analyzer.rules.attention import scaled_dot_product
from neural_cost.analyzer.rules.contrib_attention import per_score, share_buffer
from neural_cost.analyzer.rules.grouped_attention import Heads, prepare
from neural_cost.analyzer.rules.registry import cost


@cost("SparseAttention", domain="com.microsoft")
def sparse_attention(node: Node) -> Cost:
    """Cost block-sparse attention with grouped heads: each query meets whole blocks of keys, those of its block row.

    Layouts go round the heads. The block rows and the total length are values of inputs. Lengths of sequences are not
    discounted. Past and present share their buffers, as the operator demands.
    """
    q, rows = node.x, node.required(5)
    batch, tokens = q.shape[0], _concrete(q.shape[1], q)
    total = node.required(7).ints()[0]
    query_heads, block = node.required_attr("num_heads"), node.required_attr("sparse_block_size")
    bounds, layouts = rows.ints(), _concrete(rows.shape[0], rows)
    width = len(bounds) // layouts
    blocks = [
        [end - start for start, end in pairwise(bounds[layout * width : (layout + 1) * width])]
        for layout in range(layouts)
    ]
    met = sum(row[place // block] for row in blocks for place in range(total - tokens, total)) * block
    heads = Heads(query_heads, node.required_attr("kv_num_heads"), node.y.shape[-1] // query_heads)
    each = batch * query_heads // layouts
    result = scaled_dot_product(
        node,
        query=each * heads.size,
        output=each * heads.size,
        rows=each,
        keys=met,
        per_score=per_score(node, masked=True, biased=False),
    )
    result = prepare(result, node, heads, batch * tokens, norm=None, tables=9)
    pasts, presents = [node.input(3), node.input(4)], [node.output(1), node.output(2)]
    return share_buffer(result, pasts, presents, total - tokens, tokens)


def _concrete(dim: Dim, tensor: Tensor) -> int:
    """Take a dimension as a number. Raises Unknown where it is a symbol."""
    try:
        return operator.index(dim)
    except TypeError as error:
        raise Unknown("its block layout is met by a number of tokens that must be known", tensor.name) from error


@cost("DynamicSparseAttention", "SparsePagedAttention", domain="com.microsoft")
def dynamic_sparse_attention(node: Node) -> Cost:
    """Answer that it is unknown: another node chooses in a run how many keys each query meets."""
    raise Unknown("how many keys are selected for each query is not known before a run")


@cost("SparseAttentionIndexer", "PackedSparseAttentionIndexer", domain="com.microsoft")
def sparse_attention_indexer(node: Node) -> Cost:
    """Answer that it is unknown: what it pools and scores depends on how full its states are in a run."""
    raise Unknown("how many entries its state holds is not known before a run")


@cost("PackedSparseAttentionIndexerMerge", domain="com.microsoft")
def sparse_attention_indexer_merge(node: Node) -> Cost:
    """Answer that it is unknown: it compares the valid entries of two selections, of which a run decides the number."""
    raise Unknown("how many entries are selected for each query is not known before a run")


@cost("LongformerAttention", domain="com.microsoft")
def longformer_attention(node: Node) -> Cost:
    """Cost attention to a window and to g global tokens, which themselves attend to all.

    Each token is projected to local Q, K, V and to global K, V, global tokens to a global Q too. A token meets
    2 * window + 1 keys, the padding at the ends included, and g global ones; a global one meets all besides. How
    many tokens are global is a value of an input.
    """
    x, weight, flags = node.x, node.required(1), node.required(6)
    batch, tokens, hidden = x.shape
    heads, window = node.required_attr("num_heads"), node.required_attr("window")
    everywhere = sum(flag != 0 for flag in flags.ints())  # over the whole batch
    met = batch * tokens * (2 * window + 1) + 2 * everywhere * tokens
    outputs = batch * tokens * (weight.shape[1] + 2 * hidden) + everywhere * hidden
    return scaled_dot_product(
        node,
        query=hidden,
        output=hidden,
        rows=heads,
        keys=met,
        per_score=per_score(node, masked=True, biased=False),
        other_flops=outputs,
        macs=outputs * hidden,
    )


@cost("RelativePositionBias", domain="com.microsoft")
def relative_position_bias(node: Node) -> Cost:
    """Cost the bucket of each pair of positions, and the copy of its bias for each head.

    A bucket: the difference, its sign taken off (with one compare more and an add, where both directions have
    buckets), a comparison with the exact ones, and convert, divide, log, multiply, convert, add, min for the others.
    """
    pairs = prod(node.y.shape[-2:])
    sign = 3 if node.attr("is_bidirectional", 0) else 1
    return then(node.cost(), PerElement(sign + 2) + PerElement(7, 2), pairs)


@cost("GatedRelativePositionBias", domain="com.microsoft")
def gated_relative_position_bias(node: Node) -> Cost:
    """Cost the gates of each token and head, and the position bias multiplied by them.

    The query, with its bias added, times a weight of head x D; bias; two sums of D / 2; two sigmoids; then
    u * (r * a - 1) + 2.
    """
    q, weight = node.x, node.required(3)
    rows = prod(q.shape[:-1]) * node.required_attr("num_heads")
    width = weight.shape[1]
    result = node.cost(macs=q.size * width, other_flops=q.size + 2 * rows * width + node.y.size)
    return then(result, activation("sigmoid") + activation("sigmoid") + PerElement(4), rows)

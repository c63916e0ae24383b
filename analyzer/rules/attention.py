"""Attention: the scores are one product of queries with keys, the output one product of scores with values.

Masks, windows and sequence lengths are not discounted: MACs are those of the full products, and softmax runs over every
key. Neither is causality, unless the user asks for it: then a query meets the keys up to its own position. Heads of
keys and values that are shared by a group of queries are read once. Traffic is the default: inputs once, outputs once,
the scores only where they are an output.
"""

from __future__ import annotations

from typing import NamedTuple

from neural_cost.analyzer.cost import Cost, Dim, maximum, prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.activations import PRECISIONS, SOFTMAX, PerElement
from neural_cost.analyzer.rules.registry import cost

SOFTCAP = PerElement(3, 2)
"""c * tanh(score / c): divide, tanh, multiply."""

ALWAYS_CAUSAL = {"GroupQueryAttention", "PagedAttention"}


class Causal(NamedTuple):
    """The triangle that a causal mask leaves: the first of the queries meets `first` keys, each next one one more."""

    queries: Dim
    first: Dim

    def twice_the_pairs(self, keys: Dim) -> Dim:
        """Twice the pairs of a query and a key, where there are so many keys that no query meets more."""
        beyond = maximum(0, self.first + self.queries - 1 - keys)
        return self.queries * (2 * self.first + self.queries - 1) - beyond * (beyond + 1)


def is_causal(node: Node) -> bool:
    """Whether an operator masks the keys behind each query by itself, without a tensor that says so."""
    if "Attention" not in node.op_type:
        return False
    return bool(node.attr("is_causal", 0) or node.attr("unidirectional", 0)) or node.op_type in ALWAYS_CAUSAL


def scaled_dot_product(
    node: Node,
    *,
    query: Dim,
    output: Dim,
    rows: Dim,
    keys: Dim,
    per_score: PerElement,
    causal: Causal | None = None,
    other_flops: Dim = 0,
    macs: Dim = 0,
    other_type: str | None = None,
) -> Cost:
    """Cost two products and what happens to the scores between them.

    Args:
        node: whose traffic and types it has.
        query: elements of the queries; each meets every key.
        output: elements of the output before any projection; each is a sum over every key.
        rows: batch x heads x queries, the number of softmaxes.
        keys: keys that each query meets, past ones included.
        per_score: work on each score, softmax included.
        causal: the triangle, where the operator is causal.
        other_flops: work outside the scores.
        macs: contractions beside the two.
        other_type: in which the scores are worked on, where it is not that of the first input.
    """
    scores, products = rows * keys, (query + output) * keys
    if causal and node.causal_half:
        twice = causal.twice_the_pairs(keys)
        scores, products = rows * twice // (2 * causal.queries), (query + output) * twice // (2 * causal.queries)
    return node.cost(
        macs=products + macs,
        other_flops=scores * per_score.flops + other_flops,
        special_ops=scores * per_score.special,
        other_type=other_type,
    )


@cost("Attention")
def attention(node: Node) -> Cost:
    """Cost scaled dot-product attention over (batch, heads, tokens, head) or (batch, tokens, heads * head).

    Q and K, the past keys too, are each multiplied by sqrt(scale). A score has its softcap, one add where anything
    masks it, two converts where the softmax has a precision of its own, and its part of the softmax.
    """
    q, k, past = node.x, node.required(1), node.input(4)
    heads = q.shape[1] if q.rank == 4 else node.required_attr("q_num_heads")
    past_size, past_tokens = (past.size, past.shape[-2]) if past else (0, 0)
    precision = PRECISIONS.get(node.attr("softmax_precision", 0), q.dtype)
    return scaled_dot_product(
        node,
        query=q.size,
        output=node.y.size,
        rows=q.shape[0] * heads * q.shape[-2],
        keys=past_tokens + k.shape[-2],
        causal=Causal(q.shape[-2], past_tokens + 1) if node.attr("is_causal", 0) else None,
        per_score=_per_score(node, converts=precision != q.dtype),
        other_flops=q.size + k.size + past_size,
        other_type=precision,
    )


def _per_score(node: Node, converts: bool) -> PerElement:
    """Count what happens to one score between the products."""
    windows = (node.attr("left_window_size", -1), node.attr("right_window_size", -1))
    masked = node.input(3) or node.input(6) or node.attr("is_causal", 0) or max(windows) >= 0
    softcap = SOFTCAP if node.attr("softcap", 0.0) else PerElement(0)
    return softcap + PerElement(1 if masked else 0) + PerElement(2 if converts else 0) + SOFTMAX


@cost("FlexAttention", domain="ai.onnx.preview")
def flex_attention(node: Node) -> Cost:
    """Cost attention over (batch, heads, tokens, head) whose scores its bodies may change: the walk costs those.

    A score has its scale, two converts where the softmax has a precision of its own, and its part of the softmax.
    """
    q = node.x
    wide = "float64" if q.dtype == "float64" else "float32"
    precision = PRECISIONS.get(node.attr("softmax_precision", 0), wide)
    return scaled_dot_product(
        node,
        query=q.size,
        output=node.y.size,
        rows=prod(q.shape[:3]),
        keys=node.required(1).shape[2],
        per_score=PerElement(1) + PerElement(2 if precision != q.dtype else 0) + SOFTMAX,
        other_type=precision,
    )

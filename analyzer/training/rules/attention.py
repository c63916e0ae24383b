"""Attention: of its two products, each gives two back.

With S for the scores and P for their softmax, dV = P' dY, dP = dY V', dQ = dS K and dK = dS' Q. P is kept, as it is by
an implementation that writes the scores out; one that does not (flash attention) keeps a number for each row instead,
and makes S again: a fifth product.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.attention import Causal
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward


@backward("Attention")
def attention(node: Node, wants: Wants) -> Gradient:
    """Attention over (batch, heads, tokens, head) or (batch, tokens, heads * head).

    A score has 4 FLOPs of its softmax, 4 of a softcap (its slope from what it gave), and one where a mask that is
    added needs its gradient; Q and K are scaled, and so are their gradients.
    """
    q, k, past = node.x, node.required(1), node.input(4)
    heads = q.shape[1] if q.rank == 4 else node.required_attr("q_num_heads")
    before = past.shape[-2] if past else 0
    keys = before + k.shape[-2]
    rows = q.shape[0] * heads * q.shape[-2]
    causal = Causal(q.shape[-2], before + 1) if node.attr("is_causal", 0) and node.causal_half else None
    scores = part(rows * keys, keys, causal)
    softcap = 4 if node.attr("softcap", 0.0) else 0
    of_scores, of_values = part(q.size * keys, keys, causal), part(node.y.size * keys, keys, causal)
    needs_scores = bool(wants & {0, 1, 3, 4})
    return Gradient(
        macs={at: macs for at, macs in ((0, of_scores), (1, of_scores), (2, of_values)) if _wanted(at, wants)},
        inner_macs=of_values if needs_scores else 0,
        other_flops=scores * (4 + softcap + (1 if 3 in wants else 0)) + q.size + k.size if needs_scores else 0,
        saves=tuple(node.inputs[index] for index in (0, 1, 2, 4, 5) if node.input(index)),
        kept=(Kept(rows * keys * (2 if softcap else 1), q.dtype or "float32", precise=False),),
    )


def _wanted(position: int, wants: Wants) -> bool:
    """Past keys and values stand with the new ones."""
    return position in wants or (position in (1, 2) and position + 3 in wants)


def part(full: Dim, keys: Dim, causal: Causal | None) -> Dim:
    """Of a product over all keys the part that a causal mask leaves, where only that is counted."""
    if causal is None:
        return full
    return full // keys * causal.twice_the_pairs(keys) // (2 * causal.queries)


@backward("RotaryEmbedding")
@backward("RotaryEmbedding", "MRotaryEmbedding", domain="com.microsoft")
def rotary_embedding(node: Node, wants: Wants) -> Gradient:
    """The turn the other way: as much as forward, 3 FLOPs for each element that is turned; the tables are kept."""
    del wants
    from neural_cost.analyzer.rules.registry import lookup

    rule = lookup(node.domain, node.op_type, node.version)
    flops = rule.function(node).other_flops if rule else 0
    return Gradient(other_flops=flops, saves=tuple(node.inputs[1:]))


@backward("GemmaRotaryEmbedding", domain="com.microsoft")
def gemma_rotary_embedding(node: Node, wants: Wants) -> Gradient:
    """Of q * cos + q_rot * sin, and of k: a product for each; sines and cosines are kept."""
    if 0 in wants:
        raise Unknown("its backward cost is known for angles that need no gradient")
    flops = sum((node.required(index).size for index in sorted(wants)), 0)
    return Gradient(other_flops=flops, kept=(Kept(2 * node.x.size, node.y.dtype or "float32", precise=False),))

"""Attention through a recurrent state: back through the steps, each product of a step gives two back.

With S for the state after a step, dS for its gradient and u for what is added to it, dS takes q' dy, and gives
dk = dS u and du = dS' k; dq = S dy. A delta rule has u = beta * (v - S' k) of the state before: what it retrieved gives
two more, to k and to dS. States of all steps are kept: a kernel that keeps one for each chunk makes the others again.
"""

from __future__ import annotations

from neural_cost.analyzer.node import Node
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward

Q, K, V, PAST, DECAY, BETA = range(6)


@backward("LinearAttention")
@backward("LinearAttention", domain="com.microsoft")
def linear_attention(node: Node, wants: Wants) -> Gradient:
    """Over (batch, tokens, heads * size); rules as forward: linear, gated, delta, gated_delta.

    Other FLOPs: the scale of dy; for a decay dS * exp(g), and the sum of dS * S for each gate and its exp; for a delta
    rule beta * du, back from v too, and for beta the sum of du * (v - r).
    """
    rule = node.attr("update_rule", "gated_delta")
    gated, delta = "gated" in rule and node.input(DECAY) is not None, "delta" in rule
    key_dim = node.x.shape[-1] // node.required_attr("q_num_heads")
    values = node.required(V).size
    states, readout = values * key_dim, node.y.size * key_dim
    macs = {Q: readout, K: states * (2 if delta else 1), V: 0 if delta else states}
    decays = node.required(DECAY).size if gated and DECAY in wants else 0
    of_beta = 2 * values if delta and BETA in wants else 0
    return Gradient(
        macs={at: macs[at] for at in (Q, K, V) if at in wants and macs[at] != 0},
        inner_macs=readout + (2 * states if delta else 0),
        other_flops=node.y.size
        + (states if gated else 0)
        + (2 * states + decays if decays else 0)
        + (2 * values if delta else 0)
        + of_beta,
        saves=tuple(node.input(at) for at in (Q, K, V, PAST, DECAY, BETA)),
        kept=(Kept(states, node.x.dtype or "float32", precise=False),),
    )

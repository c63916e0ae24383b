"""Attention through a recurrent state: one step for each token, of fixed work, whatever came before.

The steps are counted as the recurrence defines them; a kernel that works on chunks of tokens may multiply more.
MACs of a step, for a state of d_k x d_v: the outer product that is added to the state, the product with the query,
and in the delta rules the product with the key. An outer product with nothing to add it to would be elementwise.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.activations import PerElement, activation, then
from neural_cost.analyzer.rules.normalization import divide_by_rms
from neural_cost.analyzer.rules.registry import cost

GATES = {
    "none": PerElement(0),
    "softplus": PerElement(2) + activation("softplus"),  # a * softplus(decay + bias)
    "qwen": PerElement(2) + activation("softplus"),
    "sigmoid": PerElement(3) + activation("sigmoid"),  # bound * sigmoid(a * (decay + bias))
    "kda": PerElement(3) + activation("sigmoid"),
}
"""Work on one raw decay; a is exp(a_log), taken once for each head."""

L2 = PerElement(3, 1)
"""Square, add, divide by the norm; the root of each vector comes on top."""


def recurrence(
    node: Node,
    *,
    values: Dim,
    key_dim: Dim,
    gate: Tensor | None,
    read_bytes: Dim | None = None,
    compute_type: str | None = None,
) -> Cost:
    """Cost all the steps of a rule: linear, gated, delta or gated_delta.

    Other FLOPs: decay is exp of each gate and one multiply for each element of the state; a delta rule subtracts what
    was retrieved and multiplies by beta; the output is scaled.

    Args:
        node: with the attribute update_rule, and the scaled output as its first.
        values: elements of V, all tokens and heads of states together.
        key_dim: d_k.
        gate: the decay before exp.
        read_bytes: where it is not that of all inputs.
        compute_type: where it is not that of the first input.
    """
    rule = node.attr("update_rule", "gated_delta")
    state = values * key_dim  # d_k x d_v for each token and head: all the states of all the steps
    gated, delta = "gated" in rule, "delta" in rule
    decays = gate.size if gate and gated else 0
    return node.cost(
        macs=state * (2 if delta else 1) + node.y.size * key_dim,
        other_flops=decays + (state if gated else 0) + (2 * values if delta else 0) + node.y.size,
        special_ops=decays,
        read_bytes=read_bytes,
        compute_type=compute_type,
    )


@cost("LinearAttention")
@cost("LinearAttention", domain="com.microsoft")
def linear_attention(node: Node) -> Cost:
    """Cost the recurrence over (batch, tokens, heads * size); of a window of past states the last alone is read."""
    past, window = node.input(3), node.attr("state_window", 0)
    unread = past.bytes - past.bytes // window if past and window else 0
    return recurrence(
        node,
        values=node.required(2).size,
        key_dim=node.x.shape[-1] // node.required_attr("q_num_heads"),
        gate=node.input(4),
        read_bytes=node.read_bytes - unread,
    )


@cost("LinearAttentionGate", domain="com.microsoft")
def linear_attention_gate(node: Node) -> Cost:
    """Cost scale * softplus(a + bias), and the sigmoid of b, both in float32."""
    rate = node.input(3)
    result = then(node.cost(other_type="float32"), GATES["softplus"], node.x.size)
    return then(result, activation("sigmoid"), rate.size) if rate else result


@cost("GatedDeltaNet", domain="com.microsoft")
def gated_delta_net(node: Node) -> Cost:
    """Cost the recurrence over packed tokens, in float32 as its state, with what is fused before it.

    That is: the gate from its raw projection, the sigmoid of beta, L2 normalization of queries and keys. Packed QKV
    has its head counts from the state, (batch, heads, d_v, d_k). Lengths of sequences change no count.
    """
    q, k, v, state = node.x, node.input(1), node.input(2), node.input(6)
    if v:
        values, key_dim, pairs = v.size, q.shape[-1], q.size + (k.size if k else 0)
    elif state:
        tokens, (_, heads, value_dim, key_dim) = prod(q.shape[:-1]), state.shape
        values = tokens * heads * value_dim
        pairs = q.size - values
    else:
        raise Unknown("its packed heads cannot be told apart without an initial state")
    decay, beta, slopes = node.input(4), node.input(5), node.input(7)
    result = recurrence(node, values=values, key_dim=key_dim, gate=decay, compute_type="float32")
    raw = node.attr("gate_activation", "none")
    if decay and raw != "none":
        result = then(result, GATES[raw], decay.size)
        result = then(result, PerElement(1, 1), slopes.size if slopes else 0)
    if beta and node.attr("beta_activation", "none") == "sigmoid":
        result = then(result, activation("sigmoid"), beta.size)
    if node.attr("qk_l2_norm", 0):
        result = then(then(result, L2, pairs), PerElement(1, 1), pairs // key_dim)
    return result


@cost("GatedDeltaNetStateReplay", domain="com.microsoft")
def gated_delta_net_state_replay(node: Node) -> Cost:
    """Cost the replay of captured steps: decay times state, plus the outer product of key and delta, for each.

    The sizes are values of the input `metadata`; a decay for each key dimension shows in the room that it takes.
    Read are one state and the steps that are kept, written is one state.
    """
    values = node.required(3).ints()
    decay_at, key_at, heads, value_dim, key_dim, key_heads, capacity, kept = (*values[2:4], *values[5:])
    state = heads * value_dim * key_dim
    by_key = key_at - decay_at == capacity * heads * key_dim
    step = heads * (key_dim if by_key else 1) + key_heads * key_dim + heads * value_dim
    return node.cost(
        macs=kept * state,
        other_flops=kept * state,
        read_bytes=node.x.size_in_bytes(state + kept * step) + node.required(3).bytes,
        write_bytes=node.y.size_in_bytes(state),
    )


@cost("Mamba2Verify", domain="com.microsoft")
def mamba2_verify(node: Node) -> Cost:
    """Cost a causal convolution of 4 taps, a state-space recurrence, and a gated grouped RMS normalization.

    For each token: channels x 4 MACs; the outer product that is added to the state of inner x d_state, and the
    product of the state with C. Other FLOPs: bias and silu of each channel; of each head's time step bias, softplus,
    max, and exp(A * dt); decay of each element of the state; dt * x and D * x + readout; silu of the gate and its
    multiply; normalization and scale.
    """
    rows, size = node.x.shape[0], node.attr("d_state", 128)
    groups, heads = node.required_attr("n_groups"), node.required_attr("heads")
    inner = heads * node.attr("head_dim", 64)
    channels = inner + 2 * groups * size
    rms = divide_by_rms(rows * inner, rows * groups)
    result = node.cost(
        macs=rows * (4 * channels + 2 * inner * size),
        other_flops=rows * inner * size + rms.flops + rows * inner,
        special_ops=rms.special,
        compute_type="float32",
    )
    result = then(result, PerElement(1) + activation("silu"), rows * channels)
    result = then(result, PerElement(2) + activation("softplus") + PerElement(2, 1), rows * heads)
    return then(result, PerElement(1) + PerElement(2) + activation("silu") + PerElement(1), rows * inner)

import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of, tensor
from tests.analyzer.rules.table import Row, parametrize, untested

MS = "com.microsoft"
REPLAY = [0, 0, 0, 3 * 2, 0, 2, 6, 8, 1, 3, 2]  # offsets; Hv 2, Dv 6, Dk 8, Hk 1; capacity 3, kept 2
BY_KEY = [0, 0, 0, 3 * 2 * 8, 0, 2, 6, 8, 1, 3, 2]  # keys begin behind capacity x Hv x Dk decays

ROWS = [
    Row(
        "linear_attention_gated_delta", "LinearAttention",
        [(2, 5, 4 * 8), (2, 5, 2 * 8), (2, 5, 2 * 6), (2, 2, 8, 6), (2, 5, 2), (2, 5, 2)],
        [(2, 5, 4 * 6), (2, 2, 8, 6)], {"q_num_heads": 4, "kv_num_heads": 2}, version=27,
        macs=2 * 5 * (2 * 8 * 6 + 2 * 8 * 6 + 4 * 8 * 6),  # a token: state * key, + key x value; state * query
        other=2 * 5 * 2 + 2 * 5 * (2 * 8 * 6)  # exp of each gate, decay of each element of the state
        + 2 * (2 * 5 * 2 * 6) + 2 * 5 * 4 * 6,  # subtract what was retrieved, times beta; output scaled
        special=2 * 5 * 2,
    ),
    Row(
        "linear_attention_linear", "LinearAttention", [(1, 5, 16), (1, 5, 16), (1, 5, 12)], [(1, 5, 12)],
        {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}, version=27,
        macs=5 * 2 * (2 * 8 * 6), other=5 * 12,
    ),
    Row(
        "linear_attention_gated_by_key", "LinearAttention", [(1, 5, 16), (1, 5, 16), (1, 5, 12), None, (1, 5, 16)],
        [(1, 5, 12)], {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "gated"}, version=27,
        macs=5 * 2 * (2 * 8 * 6), other=5 * 16 + 5 * (2 * 8 * 6) + 5 * 12, special=5 * 16,
    ),
    Row(
        "linear_attention_delta", "LinearAttention", [(1, 5, 16), (1, 5, 16), (1, 5, 12), None, None, (1, 5, 1)],
        [(1, 5, 12)], {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "delta"}, version=27,
        macs=5 * 3 * (2 * 8 * 6), other=2 * 5 * 12 + 5 * 12,
    ),
    Row(
        "linear_attention_ms_window", "LinearAttention",
        [(2, 5, 16), (2, 5, 16), (2, 5, 24), (4, 2, 4, 8, 6), (2, 5, 4), (2, 5, 4)], [(2, 5, 24), (4, 2, 4, 8, 6)],
        {"q_num_heads": 2, "kv_num_heads": 4, "state_window": 4}, MS,
        macs=2 * 5 * 4 * (8 * 6) * 3,  # more heads of V than of Q: each state meets a query
        other=2 * 5 * 4 + 2 * 5 * 4 * 48 + 2 * (2 * 5 * 24) + 2 * 5 * 24, special=2 * 5 * 4,
        read=4 * (2 * 160 + 240 + 2 * 4 * 48 + 2 * 40),  # one state of the window of four
        write=4 * (240 + 4 * 2 * 4 * 48),
    ),
    Row(
        "linear_attention_gate", "LinearAttentionGate",
        [((2, 5, 4), "float16"), (4,), (4,), ((2, 5, 4), "float16")], [((2, 5, 4), "float16"), ((2, 5, 4), "float16")],
        domain=MS,
        other=40 * (1 + 3 + 1) + 40 * 3,  # add bias, softplus, multiply; sigmoid
        special=40 * 2 + 40 * 2, other_type="float32",
    ),
    Row(
        "gated_delta_net", "GatedDeltaNet",
        [((10, 2, 8), "float16"), ((10, 2, 8), "float16"), ((10, 4, 6), "float16"), None, ((10, 4), "float16"),
         ((10, 4), "float16"), (2, 4, 6, 8), (4,), (4,)],
        [((10, 4, 6), "float16"), (2, 4, 6, 8)],
        {"gate_activation": "softplus", "beta_activation": "sigmoid", "qk_l2_norm": 1}, MS,
        macs=10 * 4 * (8 * 6) * 3,
        other=40 + 10 * 4 * 48 + 2 * 240 + 240  # decay, state, delta, scale
        + 40 * (2 + 3) + 4  # a * softplus(decay + bias), exp of each a
        + 40 * 3  # sigmoid of beta
        + 2 * 160 * 3 + 2 * 20,  # L2: square, add, divide; the root of each vector
        special=40 + 40 * 2 + 4 + 40 * 2 + 2 * 160 + 2 * 20, compute_type="float32",
    ),
    Row(
        "gated_delta_net_packed", "GatedDeltaNet",
        [(10, 2 * 2 * 8 + 4 * 6), None, None, None, (10, 4), (10, 4), (2, 4, 6, 8)], [(10, 4, 6)], {}, MS,
        macs=10 * 4 * (8 * 6) * 3, other=40 + 10 * 4 * 48 + 2 * 240 + 240, special=40,
    ),
    Row(
        "gated_delta_net_packed_normalized", "GatedDeltaNet",
        [(10, 2 * 2 * 8 + 4 * 6), None, None, None, None, None, (2, 4, 6, 8)], [(10, 4, 6)],
        {"update_rule": "linear", "qk_l2_norm": 1}, MS,
        macs=10 * 4 * (8 * 6) * 2, other=240 + 2 * 160 * 3 + 2 * 20, special=2 * 160 + 2 * 20,
    ),
    Row(
        "gated_delta_net_kda", "GatedDeltaNet",
        [(10, 2, 8), (10, 2, 8), (10, 2, 6), None, (10, 2, 8), None, None, (2,), (2, 8)], [(10, 2, 6)],
        {"gate_activation": "kda", "update_rule": "gated"}, MS,
        macs=10 * 2 * (8 * 6) * 2,
        other=160 + 10 * 2 * 48 + 120 + 160 * (3 + 3) + 2, special=160 + 160 * 2 + 2,
    ),
    Row(
        "replay", "GatedDeltaNetStateReplay",
        [(999,), (999,), (999,), tensor("metadata", (11,), "int64", REPLAY)], [(999,)], domain=MS,
        macs=2 * (2 * 6 * 8), other=2 * (2 * 6 * 8),  # decay of each element, then key x delta
        read=4 * (96 + 2 * (2 + 8 + 12)) + 8 * 11, write=4 * 96,  # a state, and decay, key, delta of two steps
    ),
    Row(
        "replay_decay_by_key", "GatedDeltaNetStateReplay",
        [(999,), (999,), (999,), tensor("metadata", (11,), "int64", BY_KEY)], [(999,)], domain=MS,
        macs=2 * 96, other=2 * 96, read=4 * (96 + 2 * (16 + 8 + 12)) + 8 * 11, write=4 * 96,
    ),
    Row(
        "mamba2", "Mamba2Verify", [((3, 2 * 128 + 2 * 2 * 16 + 2), "bfloat16")], [((3, 128), "bfloat16")],
        {"heads": 2, "n_groups": 2, "d_state": 16, "head_dim": 64}, MS,
        macs=3 * ((128 + 64) * 4 + 2 * 128 * 16),  # 4 taps; outer product, readout
        other=3 * 192 * (1 + 4)  # bias, silu
        + 3 * 2 * (1 + 3 + 1 + 1 + 1)  # bias, softplus, max, A * dt, exp
        + 3 * 128 * 16  # decay
        + 3 * 128 * (1 + 2 + 4 + 1)  # dt * x; D * x, add; silu of the gate, multiply
        + 3 * 128 * 3 + 3 * 2 * 3 + 3 * 128,  # square, add, divide; mean, epsilon, root of a group; scale
        special=3 * 192 * 2 + 3 * 2 * (2 + 1) + 3 * 128 * 2 + 3 * 128 + 3 * 2 * 2, compute_type="float32",
    ),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["linear_attention"], ROWS) == set()


def test_packed_heads_without_a_state_are_unknown() -> None:
    with pytest.raises(Unknown, match="initial state"):
        cost_of("GatedDeltaNet", [(10, 56)], [(10, 4, 6)], MS)

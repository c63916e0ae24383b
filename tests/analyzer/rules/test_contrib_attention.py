import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of, tensor
from tests.analyzer.rules.table import Row, parametrize, untested

MS, I32 = "com.microsoft", "int32"
HEADS = {"num_heads": 4}
# Batch 2, 3 tokens of 32 in 4 heads of 8.
X, HIDDEN, WEIGHT, BIAS = (2, 3, 32), 2 * 3 * 32, (32, 96), (96,)
SCORES = 2 * 4 * 3 * 3
PROJECTION = 2 * 3 * 32 * 96


def value(name: str, *numbers: int, dtype: str = I32):
    return tensor(name, (len(numbers),), dtype, list(numbers))


def flag(name: str, given: bool):
    return tensor(name, (1,), "bool", [given])


ROWS = [
    Row(
        "merged", "Attention", [X, WEIGHT, BIAS, ((2,), I32)], [X], HEADS, MS,
        macs=PROJECTION + SCORES * (8 + 8),
        other=2 * 3 * 96 + SCORES * (1 + 1 + 5), special=SCORES * 2,  # bias; scale, mask, softmax
        read=4 * (HIDDEN + 32 * 96 + 96 + 2), write=4 * HIDDEN,
    ),
    Row(
        "merged_past_causal_rotary", "Attention", [(2, 1, 32), WEIGHT, None, None, (2, 2, 4, 7, 8)],
        [(2, 1, 32), (2, 2, 4, 8, 8)], {**HEADS, "unidirectional": 1, "do_rotary": 1}, MS,
        macs=2 * 32 * 96 + (2 * 4 * 8) * 16,  # 7 past keys and the new one
        other=(2 * 4 * 8) * (1 + 1 + 5) + 2 * (2 * 32) * 3, special=(2 * 4 * 8) * 2,  # Q and K are turned
        read=4 * (64 + 32 * 96 + 2 * 2 * 4 * 7 * 8), write=4 * (64 + 2 * 2 * 4 * 8 * 8),
    ),
    Row(
        "merged_hidden_sizes_bias_partial_rotary", "Attention", [X, (32, 32 + 32 + 16), None, None, None, (1, 1, 3, 3)],
        [(2, 3, 16)], {**HEADS, "qkv_hidden_sizes": [32, 32, 16], "do_rotary": 1, "rotary_embedding_dim": 4}, MS,
        macs=2 * 3 * 32 * 80 + SCORES * (8 + 4),
        other=SCORES * (1 + 1 + 5) + 2 * (6 * 4 * 4) * 3, special=SCORES * 2,
    ),
    Row(
        "merged_shared_buffer", "Attention",
        [(2, 1, 32), WEIGHT, None, None, (2, 2, 4, 100, 8), None, value("past_sequence_length", 7)],
        [(2, 1, 32), (2, 2, 4, 100, 8)], {**HEADS, "past_present_share_buffer": 1}, MS,
        macs=2 * 32 * 96 + (2 * 4 * 8) * 16, other=(2 * 4 * 8) * 6, special=(2 * 4 * 8) * 2,
        read=4 * (64 + 32 * 96 + 1 + 2 * 2 * 4 * 7 * 8),  # 7 of the 100 tokens
        write=4 * (64 + 2 * 2 * 4 * 1 * 8),  # the new one
    ),
    Row(
        "decoder_masked_self", "DecoderMaskedSelfAttention",
        [(2, 1, 32), WEIGHT, BIAS, ((2, 8), I32), (2, 2, 4, 7, 8), None, ((1,), I32)], [(2, 1, 32), (2, 2, 4, 8, 8)],
        HEADS, MS,
        macs=2 * 32 * 96 + (2 * 4 * 8) * 16, other=2 * 96 + (2 * 4 * 8) * 7, special=(2 * 4 * 8) * 2,
    ),
    Row(
        "multi_head", "MultiHeadAttention", [X, (2, 5, 32), (2, 5, 24), (88,), ((2, 5), I32), (1, 4, 3, 5)],
        [(2, 3, 24)], HEADS, MS,
        macs=(2 * 4 * 3 * 5) * (8 + 6),
        other=2 * (3 * 32 + 5 * 32 + 5 * 24) + (2 * 4 * 3 * 5) * (1 + 1 + 1 + 5), special=(2 * 4 * 3 * 5) * 2,
        read=4 * (192 + 320 + 240 + 88 + 10 + 60),
    ),
    Row(
        "multi_head_packed_qkv", "MultiHeadAttention", [(2, 3, 4, 3, 8), None, None, (96,)], [X], HEADS, MS,
        macs=SCORES * 16, other=2 * 3 * 96 + SCORES * 6, special=SCORES * 2,
    ),
    Row(
        "multi_head_packed_kv", "MultiHeadAttention", [X, (2, 5, 4, 2, 8)], [X], {**HEADS, "unidirectional": 1}, MS,
        macs=(2 * 4 * 3 * 5) * 16, other=(2 * 4 * 3 * 5) * 7, special=(2 * 4 * 3 * 5) * 2,
    ),
    Row(
        "multi_head_cross_cache", "MultiHeadAttention", [X, (2, 4, 5, 8), (2, 4, 5, 8), (96,)], [X], HEADS, MS,
        macs=(2 * 4 * 3 * 5) * 16, other=HIDDEN + (2 * 4 * 3 * 5) * 6, special=(2 * 4 * 3 * 5) * 2,
    ),
    Row(
        "multi_head_past", "MultiHeadAttention",
        [(2, 1, 32), (2, 1, 32), (2, 1, 32), None, None, None, (2, 4, 7, 8), (2, 4, 7, 8)],
        [(2, 1, 32), (2, 4, 8, 8), (2, 4, 8, 8)], HEADS, MS,
        macs=(2 * 4 * 8) * 16, other=(2 * 4 * 8) * 6, special=(2 * 4 * 8) * 2,
        read=4 * (3 * 64 + 2 * 448), write=4 * (64 + 2 * 512),
    ),
    Row(
        "multi_head_shared_buffer", "MultiHeadAttention",
        [(2, 1, 32), (2, 1, 32), (2, 1, 32), None, None, None, (2, 4, 100, 8), (2, 4, 100, 8), value("past", 7)],
        [(2, 1, 32), (2, 4, 100, 8), (2, 4, 100, 8)], HEADS, MS,
        macs=(2 * 4 * 8) * 16, other=(2 * 4 * 8) * 6, special=(2 * 4 * 8) * 2,
        read=4 * (3 * 64 + 2 * 448 + 1), write=4 * (64 + 2 * 64),
    ),
    Row(
        "decoder_masked_packed", "DecoderMaskedMultiHeadAttention",
        [(2, 1, 96), None, None, ((2, 8), I32), None, (2, 4, 7, 8), (2, 4, 7, 8), None, None, None, (96,)],
        [(2, 1, 32), (2, 4, 8, 8), (2, 4, 8, 8)], HEADS, MS,
        macs=(2 * 4 * 8) * 16, other=2 * 96 + (2 * 4 * 8) * 7, special=(2 * 4 * 8) * 2,
    ),
    Row(
        "decoder_masked_cross", "DecoderMaskedMultiHeadAttention",
        [(2, 1, 32), (2, 4, 5, 8), (2, 4, 5, 8), *[None] * 7, (96,)], [(2, 1, 32)], HEADS, MS,
        macs=(2 * 4 * 5) * 16, other=2 * 32 + (2 * 4 * 5) * 6, special=(2 * 4 * 5) * 2,
    ),
    Row(
        "decoder_masked_shared_buffer", "DecoderMaskedMultiHeadAttention",
        [(2, 1, 32), (2, 1, 32), (2, 1, 32), None, None, (2, 4, 100, 8), (2, 4, 100, 8), value("past", 7)],
        [(2, 1, 32), (2, 4, 100, 8), (2, 4, 100, 8)], {**HEADS, "past_present_share_buffer": 1}, MS,
        macs=(2 * 4 * 8) * 16, other=(2 * 4 * 8) * 6, special=(2 * 4 * 8) * 2,
        read=4 * (3 * 64 + 2 * 448 + 1), write=4 * (64 + 2 * 64),
    ),
    Row(
        "packed", "PackedAttention", [(7, 32), WEIGHT, BIAS, ((3, 4), I32), ((4,), I32), (1, 4, 4, 4)], [(7, 32)],
        HEADS, MS,
        macs=7 * 32 * 96 + (3 * 4 * 4 * 4) * 16,  # 7 real tokens are projected, 3 x 4 attend
        other=7 * 96 + (3 * 4 * 4 * 4) * 8, special=(3 * 4 * 4 * 4) * 2,
    ),
    Row(
        "packed_multi_head", "PackedMultiHeadAttention",
        [(7, 32), (7, 32), (7, 24), (88,), ((3, 4), I32), ((4,), I32)], [(7, 24)], HEADS, MS,
        macs=(3 * 4 * 4 * 4) * (8 + 6), other=7 * 88 + (3 * 4 * 4 * 4) * 7, special=(3 * 4 * 4 * 4) * 2,
    ),
    Row(
        "packed_multi_head_qkv", "PackedMultiHeadAttention",
        [(7, 4, 3, 8), None, None, None, ((3, 4), I32), ((4,), I32)], [(7, 32)], HEADS, MS,
        macs=(3 * 4 * 4 * 4) * 16, other=(3 * 4 * 4 * 4) * 7, special=(3 * 4 * 4 * 4) * 2,
    ),
    Row(
        "decoder_self_cached", "DecoderAttention",
        [(1, 2, 32), (1, 2, 32), (32, 32), (32, 64), BIAS, None, (2, 4, 7, 8), (2, 4, 7, 8),
         flag("static_kv", False), flag("use_past", True), flag("has_layer_state", True), flag("mask", False)],
        [(1, 2, 32)], HEADS, MS,
        macs=2 * 32 * 96 + (2 * 4 * 8) * 16, other=2 * 96 + (2 * 4 * 8) * 6, special=(2 * 4 * 8) * 2,
    ),
    Row(
        "decoder_cross", "DecoderAttention",
        [(1, 2, 32), (5, 2, 32), (32, 32), (32, 64), BIAS, ((2, 5), "bool"), None, None,
         flag("static_kv", True), flag("use_past", False), flag("has_layer_state", False), flag("mask", True)],
        [(1, 2, 32)], HEADS, MS,
        macs=2 * 32 * 32 + 10 * 32 * 64 + (2 * 4 * 5) * 16,
        other=2 * 32 + 10 * 64 + (2 * 4 * 5) * 7, special=(2 * 4 * 5) * 2,
    ),
    Row(
        "decoder_cross_cached", "DecoderAttention",
        [(1, 2, 32), (5, 2, 32), (32, 32), (32, 64), BIAS, None, (2, 4, 5, 8), (2, 4, 5, 8),
         flag("static_kv", True), flag("use_past", True), flag("has_layer_state", True), flag("mask", False)],
        [(1, 2, 32)], HEADS, MS,
        macs=2 * 32 * 32 + (2 * 4 * 5) * 16, other=2 * 32 + (2 * 4 * 5) * 6, special=(2 * 4 * 5) * 2,
        read=4 * (64 + 1024 + 96 + 2 * 320) + 4,  # neither the key nor its weight
    ),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["contrib_attention"], ROWS) == set()


def test_a_shared_buffer_of_unknown_filling_is_unknown() -> None:
    inputs = [(2, 1, 32), WEIGHT, None, None, (2, 2, 4, 100, 8), None, ((1,), I32)]
    with pytest.raises(Unknown, match="not known before a run"):
        cost_of("Attention", inputs, [(2, 1, 32)], MS, num_heads=4, past_present_share_buffer=1)
    with pytest.raises(Unknown, match="not known before a run"):
        cost_of("Attention", inputs[:5], [(2, 1, 32)], MS, num_heads=4, past_present_share_buffer=1)


def test_flags_that_a_run_decides_are_unknown() -> None:
    inputs = [(1, 2, 32), (5, 2, 32), (32, 32), (32, 64), BIAS, None, None, None, *[((1,), "bool")] * 4]
    with pytest.raises(Unknown, match="not known before a run"):
        cost_of("DecoderAttention", inputs, [(1, 2, 32)], MS, num_heads=4)

import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

# batch 2, 4 heads of 8, values of 6, 3 queries, 5 keys
SCORES = 2 * 4 * 3 * 5
SCALED = 2 * 4 * 3 * 8 + 2 * 4 * 5 * 8  # Q and K, each by sqrt(scale)
ROWS = [
    Row(
        "attention_4d", "Attention", [(2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 6)], [(2, 4, 3, 6)], version=23,
        macs=SCORES * (8 + 6),  # each score is a dot product of 8, and meets 6 values
        other=SCALED + SCORES * 5, special=SCORES * 2,  # softmax: max, subtract, exp, sum, divide
        read=4 * 2 * 4 * (3 * 8 + 5 * 8 + 5 * 6), write=4 * 2 * 4 * 3 * 6,
    ),
    Row(
        "flex_attention", "FlexAttention", [(2, 4, 3, 8), (2, 2, 5, 8), (2, 2, 5, 6)], [(2, 4, 3, 6)],
        domain="ai.onnx.preview", version=1,
        macs=SCORES * (8 + 6), other=SCORES * (1 + 5), special=SCORES * 2,  # the scale; softmax
    ),
    Row(
        "flex_attention_float16", "FlexAttention", [((1, 1, 2, 4), "float16")] * 3, [((1, 1, 2, 4), "float16")],
        domain="ai.onnx.preview", version=1,
        macs=(2 * 2) * (4 + 4), other=(2 * 2) * (1 + 2 + 5), special=(2 * 2) * 2,  # to float32 and back
        compute_type="float16", other_type="float32",
    ),
    Row(
        "attention_3d", "Attention", [(2, 3, 32), (2, 5, 32), (2, 5, 24)], [(2, 3, 24)],
        {"q_num_heads": 4, "kv_num_heads": 4}, version=23,
        macs=SCORES * (8 + 6), other=SCALED + SCORES * 5, special=SCORES * 2,
    ),
    Row(
        "attention_causal_counts_in_full", "Attention", [(2, 4, 3, 8), (2, 4, 3, 8), (2, 4, 3, 8)], [(2, 4, 3, 8)],
        {"is_causal": 1}, version=24,
        macs=(2 * 4 * 3 * 3) * (8 + 8), other=2 * (2 * 4 * 3 * 8) + (2 * 4 * 3 * 3) * (1 + 5),  # the mask is an add
        special=(2 * 4 * 3 * 3) * 2,
    ),
    Row(
        "attention_grouped_with_past", "Attention",
        [(2, 1, 32), (2, 1, 16), (2, 1, 16), (1, 8), (2, 2, 7, 8), (2, 2, 7, 8)],
        [(2, 1, 32), (2, 2, 8, 8), (2, 2, 8, 8)], {"q_num_heads": 4, "kv_num_heads": 2}, version=23,
        macs=(2 * 4 * 1 * 8) * (8 + 8),  # 4 query heads over 7 past keys and 1 new one
        other=2 * 32 + 2 * 16 + 2 * 2 * 7 * 8  # Q, K and past K by sqrt(scale)
        + (2 * 4 * 1 * 8) * (1 + 5),  # mask, softmax
        special=(2 * 4 * 1 * 8) * 2,
        read=4 * (64 + 32 + 32 + 8 + 2 * 224), write=4 * (64 + 2 * 2 * 2 * 8 * 8),
    ),
    Row(
        "attention_softcap_precision_window", "Attention",
        [((2, 4, 3, 8), "float16"), ((2, 4, 5, 8), "float16"), ((2, 4, 5, 6), "float16")],
        [((2, 4, 3, 6), "float16"), None, None, ((2, 4, 3, 5), "float16")],
        {"softcap": 50.0, "softmax_precision": 1, "left_window_size": 2}, version=25,
        macs=SCORES * (8 + 6),
        other=SCALED + SCORES * (3 + 1 + 2 + 5),  # divide, tanh, multiply; window; there and back; softmax
        special=SCORES * (2 + 2), compute_type="float16", other_type="float32",
        write=2 * (2 * 4 * 3 * 6 + SCORES),
    ),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["attention"], ROWS) == set()


def test_packed_heads_without_their_number_are_unknown() -> None:
    with pytest.raises(Unknown, match="q_num_heads"):
        cost_of("Attention", [(2, 3, 32), (2, 5, 32), (2, 5, 24)], [(2, 3, 24)], version=23)

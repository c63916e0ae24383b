import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

MS, I8 = "com.microsoft", "int8"
# Steps 5, batch 3, input 4, hidden 6.
X = (5, 3, 4)
UNITS = 5 * 3 * 6
# A memory of 7 steps of depth 8, attention of width 9, attention layer to 10: W sees 4 + 10.
MEMORY = [(1, 6, 9), (1, 8, 9), (1, 9), (3, 7, 8), ((3,), "int32"), (1, 14, 10)]

ROWS = [
    Row(
        "dynamic_quantize_lstm", "DynamicQuantizeLSTM",
        [X, ((1, 4, 24), I8), ((1, 6, 24), I8), (1, 48), None, None, None, None, (1,), ((1,), I8),
         (1, 24), ((1, 24), I8)],
        [(5, 1, 3, 6)], {"hidden_size": 6}, MS,
        macs=UNITS * 4 * (4 + 6),
        other=UNITS * (15 + 8)  # an LSTM with biases
        + UNITS * 4 * 5  # two products of a gate: convert and scale each, add
        + (60 + 90) * (8 + 1) + 10 * (1 + 5)  # X once, H at 5 steps: quantize and centre; range and zero point
        + 1 * 4 * 24 + 6 * 24  # W and R centred
        + 1 + 5 * 24,  # scales
        special=UNITS * 8 + (60 + 90) + 2 * (1 + 5), compute_type="int8", other_type="float32",
        read=4 * 60 + 96 + 144 + 4 * 48 + 4 + 1 + 4 * 24 + 24,
    ),
    Row(
        "dynamic_quantize_lstm_both_ways", "DynamicQuantizeLSTM",
        [X, ((2, 4, 24), I8), ((2, 6, 24), I8), *[None] * 5, (2,), ((2,), I8), (2,), ((2,), I8)], [(5, 2, 3, 6)],
        {"direction": "bidirectional"}, MS,
        macs=2 * UNITS * 40,
        other=2 * UNITS * 15 + 2 * UNITS * 4 * 5 + (60 + 180) * 9 + 10 * (1 + 10) + 2 * 96 + 2 * 144 + 2 + 5 * 2,
        special=2 * UNITS * 8 + (60 + 180) + 2 * (1 + 10),
    ),
    Row(
        "attn_lstm", "AttnLSTM",
        [X, (1, 24, 14), (1, 24, 6), *[None] * 5, *MEMORY], [(5, 1, 3, 6)], {}, MS,
        macs=UNITS * 4 * (14 + 6)
        + 3 * 7 * 8 * 9  # the memory times MW, once
        + 5 * 3 * (6 * 9 + 7 * 9 + 7 * 8 + 14 * 10),  # H QW; V tanh; align x memory; the attention layer
        other=UNITS * 15 + 5 * 3 * 7 * 9 * 2 + 5 * 3 * 7 * 5, special=UNITS * 8 + 5 * 3 * 7 * 9 + 5 * 3 * 7 * 2,
    ),
    Row(
        "attn_lstm_without_layer", "AttnLSTM",
        [X, (1, 24, 12), (1, 24, 6), *[None] * 5, *MEMORY[:4]], [(5, 1, 3, 6)], {}, MS,
        macs=UNITS * 4 * (12 + 6) + 3 * 7 * 8 * 9 + 5 * 3 * (6 * 9 + 7 * 9 + 7 * 8),
        other=UNITS * 15 + 5 * 3 * 7 * (9 * 2 + 5), special=UNITS * 8 + 5 * 3 * 7 * (9 + 2),
    ),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["contrib_recurrent"], ROWS) == set()


def test_an_attention_without_a_memory_is_unknown() -> None:
    with pytest.raises(Unknown, match="attention"):
        cost_of("AttnLSTM", [X, (1, 24, 14), (1, 24, 6)], [(5, 1, 3, 6)], MS)

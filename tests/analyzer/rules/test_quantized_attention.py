import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

MS, U8, I8, I32 = "com.microsoft", "uint8", "int8", "int32"
HEADS = {"num_heads": 4}
X, WEIGHT = ((2, 3, 32), U8), ((32, 96), I8)
SCORES = 2 * 4 * 3 * 3
SCALAR = ()
ORDERED = [
    ((2, 3, 32), I8), SCALAR, SCALAR, SCALAR, SCALAR, *[((32, 32), I8)] * 3, SCALAR, (32,), (32,), (32,), (32,), (32,),
    SCALAR, SCALAR, SCALAR, ((2,), I32),
]  # fmt: skip

ROWS = [
    Row(
        "qattention", "QAttention",
        [X, WEIGHT, (96,), SCALAR, (96,), ((2,), I32), (SCALAR, U8), ((96,), I8)], [(2, 3, 32)], HEADS, MS,
        macs=2 * 3 * 32 * 96 + SCORES * 16,
        other=2 * 3 * 32 + 32 * 96 + 96 + 6 * 96 * 3  # centre both; scales; convert, scale, bias
        + SCORES * 7, special=SCORES * 2,
        compute_type=U8, other_type="float32",
        read=192 + 32 * 96 + 4 * 96 + 4 + 4 * 96 + 4 * 2 + 1 + 96,
    ),
    Row(
        "qattention_past_rotary", "QAttention",
        [((2, 1, 32), U8), WEIGHT, (96,), SCALAR, SCALAR, None, None, None, (2, 2, 4, 7, 8)],
        [(2, 1, 32), (2, 2, 4, 8, 8)], {**HEADS, "unidirectional": 1, "do_rotary": 1}, MS,
        macs=2 * 32 * 96 + (2 * 4 * 8) * 16,
        other=1 + 2 * 96 * 3 + (2 * 4 * 8) * 7 + 2 * 64 * 3, special=(2 * 4 * 8) * 2,
    ),
    Row(
        "ordered", "QOrderedAttention", ORDERED, [((2, 3, 32), I8)], HEADS, MS,
        macs=2 * 3 * 32 * 96 + SCORES * 16,
        other=1 + 32 + 32  # scales of the weights
        + 6 * 96 * (6 + 1)  # convert, scale, bias, round, clamp, convert
        + SCORES * (6 + 2 + 1 + 5 + 5)  # requantize, dequantize, mask, softmax, quantize
        + 192 * 6,
        special=SCORES * (2 + 1), compute_type=I8, other_type="float32",
    ),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["quantized_attention"], ROWS) == {(MS, "QOrderedLongformerAttention")}


def test_the_projection_is_integer_and_the_scores_are_not() -> None:
    row = next(row for row in ROWS if row.id == "qattention")
    cost = cost_of(row.op, row.inputs, row.outputs, MS, **row.attributes)
    assert cost.macs_by_type == {U8: 2 * 3 * 32 * 96, "float32": SCORES * 16}


def test_what_its_definition_leaves_open_is_unknown() -> None:
    with pytest.raises(Unknown, match="int8"):
        cost_of("QOrderedLongformerAttention", [((2, 6, 32), I8)], [((2, 6, 32), I8)], MS)


def test_a_shared_cache_of_unknown_filling_is_unknown() -> None:
    inputs = [((2, 1, 32), U8), WEIGHT, (96,), SCALAR, SCALAR, None, None, None, (2, 2, 4, 100, 8)]
    with pytest.raises(Unknown, match="not known before a run"):
        cost_of("QAttention", inputs, [(2, 1, 32)], MS, num_heads=4, past_present_share_buffer=1)

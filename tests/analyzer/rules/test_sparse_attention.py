import pytest
import sympy

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of, tensor
from tests.analyzer.rules.table import Row, parametrize, untested

MS, I32 = "com.microsoft", "int32"
GROUPS = {"num_heads": 4, "kv_num_heads": 2, "sparse_block_size": 16}
CACHE = (2, 2, 64, 8)
# Two layouts of four block rows: 1, 2, 2, 3 blocks, and 1, 2, 3, 3.
LAYOUTS = tensor("rows", (2, 5), I32, [[0, 1, 3, 5, 8], [0, 1, 3, 6, 9]])
SPARSE = [(2, 3, 32), (2, 3, 16), (2, 3, 16), CACHE, CACHE, LAYOUTS, ((2, 9), I32),
          tensor("total", (1,), I32, [34]), ((2,), I32)]  # fmt: skip
# Queries at 31, 32, 33: block rows 1, 2, 2. Two heads for each layout, batch 2.
MET = 2 * 2 * ((2 + 2 + 2) + (2 + 3 + 3)) * 16
GLOBAL = tensor("global", (2, 6), I32, [[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]])
LOCAL = 2 * 6 * (2 * 2 + 1) + 2 * 3 * 6  # 6 tokens in a window of 5 for each of 2; 3 global: to all, and all to them

ROWS = [
    Row(
        "blocks", "SparseAttention", SPARSE, [(2, 3, 32), CACHE, CACHE], GROUPS, MS,
        macs=MET * (8 + 8), other=MET * (1 + 1 + 5), special=MET * 2,
        read=4 * (192 + 96 + 96 + 2 * (2 * 2 * 31 * 8) + 10 + 18 + 1 + 2),  # 31 past tokens of room for 64
        write=4 * (192 + 2 * (2 * 2 * 3 * 8)),
    ),
    Row(
        "blocks_rotary", "SparseAttention", [*SPARSE, (100, 4), (100, 4)], [(2, 3, 32), CACHE, CACHE],
        {**GROUPS, "do_rotary": 1}, MS,
        macs=MET * 16, other=MET * 7 + 6 * (4 + 2) * 8 * 3, special=MET * 2,
    ),
    Row(
        "longformer", "LongformerAttention",
        [(2, 6, 32), (32, 96), (96,), (2, 6), (32, 96), (96,), GLOBAL],
        [(2, 6, 32)], {"num_heads": 4, "window": 2}, MS,
        macs=12 * 32 * (96 + 64) + 3 * 32 * 32 + LOCAL * 4 * (8 + 8),
        other=12 * (96 + 64) + 3 * 32 + 4 * LOCAL * 7, special=4 * LOCAL * 2,
    ),
    Row("relative_bias", "RelativePositionBias", [(32, 4), ((1,), "int64"), ((1,), "int64")], [(1, 4, 6, 6)], {}, MS,
        other=36 * (1 + 1 + 1 + 7), special=36 * 2,  # a pair: subtract, max, compare; the seven of a large distance
        write=4 * 144),
    Row("relative_bias_both_ways", "RelativePositionBias", [(32, 4), ((1,), "int64"), ((1,), "int64")],
        [(1, 4, 6, 6)], {"is_bidirectional": 1}, MS, other=36 * (1 + 3 + 1 + 7), special=36 * 2),
    Row(
        "gated_bias", "GatedRelativePositionBias",
        [(2, 6, 32), (32,), (1, 4, 6, 6), (8, 10), (10,), (1, 4, 1, 1)], [(2, 4, 6, 6)], {"num_heads": 4}, MS,
        macs=(2 * 6 * 4) * 8 * 10,
        other=2 * 6 * 32 + 48 * (10 + 10) + 48 * (3 + 3 + 4) + 288,  # bias; bias, sums; sigmoids, gate; multiply
        special=48 * 4,
    ),
]  # fmt: skip

UNKNOWN = {
    "DynamicSparseAttention": "selected",
    "SparsePagedAttention": "selected",
    "SparseAttentionIndexer": "state",
    "PackedSparseAttentionIndexer": "state",
    "PackedSparseAttentionIndexerMerge": "selected",
}


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["sparse_attention"], ROWS) == {(MS, name) for name in UNKNOWN}


@pytest.mark.parametrize(("name", "why"), UNKNOWN.items())
def test_what_a_run_selects_is_unknown(name: str, why: str) -> None:
    with pytest.raises(Unknown, match=why):
        cost_of(name, [(2, 3, 32)], [(2, 3, 32)], MS)


def test_blocks_for_a_symbolic_number_of_tokens_are_unknown() -> None:
    tokens = sympy.Symbol("tokens", integer=True, positive=True)
    with pytest.raises(Unknown, match="block layout"):
        cost_of("SparseAttention", [(2, tokens, 32), *SPARSE[1:]], [(2, tokens, 32)], MS, **GROUPS)


def test_global_tokens_that_a_run_marks_are_unknown() -> None:
    inputs = [(2, 6, 32), (32, 96), (96,), (2, 6), (32, 96), (96,), ((2, 6), I32)]
    with pytest.raises(Unknown, match="not known before a run"):
        cost_of("LongformerAttention", inputs, [(2, 6, 32)], MS, num_heads=4, window=2)

import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of, tensor
from tests.analyzer.rules.table import Row, parametrize, untested

MS, I32, F16 = "com.microsoft", "int32", "float16"
GROUPS = {"num_heads": 4, "kv_num_heads": 2}
LENGTHS = ((2,), I32)
UNKNOWN_TOTAL = ((1,), I32)
# Batch 2, 4 heads of 8 over 2 shared ones. One new token after 7, or 3 tokens of a prompt.
DECODED = 2 * 4 * 1 * 8
PROMPT = 2 * 4 * 3 * 3


def value(name: str, *numbers: int):
    return tensor(name, (len(numbers),), I32, list(numbers))


def cached(past: int, present: int, total=UNKNOWN_TOTAL, dtype: str = "float32"):
    """One new token, its caches, and what is written."""
    inputs = [(2, 1, 32), (2, 1, 16), (2, 1, 16), ((2, 2, past, 8), dtype), ((2, 2, past, 8), dtype), LENGTHS, total]
    return inputs, [(2, 1, 32), ((2, 2, present, 8), dtype), ((2, 2, present, 8), dtype)]


GROWING, GROWN = cached(7, 8)
FULL, WRITTEN = cached(100, 100, value("total", 8))
INT8, INT8_OUT = cached(7, 8, dtype="int8")
PAGES = (50, 16, 2, 8)
PAST, BOUNDS, BLOCKS = value("past", 7, 0), value("bounds", 0, 1, 4), ((2, 4), I32)
PAIRS = 1 * (7 + 1) + 3 * (0 + 3)  # one token after 7, and a prompt of three

ROWS = [
    Row(
        "grouped_prompt", "GroupQueryAttention",
        [(2, 3, 32), (2, 3, 16), (2, 3, 16), None, None, LENGTHS, UNKNOWN_TOTAL],
        [(2, 3, 32), (2, 2, 3, 8), (2, 2, 3, 8)], GROUPS, MS,
        macs=PROMPT * (8 + 8), other=PROMPT * (1 + 1 + 5), special=PROMPT * 2,  # in full; scale, mask, softmax
        read=4 * (192 + 96 + 96 + 2 + 1), write=4 * (192 + 2 * 96),
    ),
    Row(
        "grouped_packed_rotary", "GroupQueryAttention",
        [(2, 3, 32 + 16 + 16), None, None, None, None, LENGTHS, UNKNOWN_TOTAL, (100, 4), (100, 4)],
        [(2, 3, 32)], {**GROUPS, "do_rotary": 1}, MS,
        macs=PROMPT * 16, other=PROMPT * 7 + 2 * 3 * (4 + 2) * 8 * 3, special=PROMPT * 2,  # Q and K are turned
        read=4 * (2 * 3 * 64 + 2 + 1 + 2 * (6 * 4)),  # of the tables a row for each token
    ),
    Row(
        "grouped_growing_cache", "GroupQueryAttention", GROWING, GROWN, GROUPS, MS,
        macs=DECODED * 16, other=DECODED * 7, special=DECODED * 2,
        read=4 * (64 + 32 + 32 + 2 * 224 + 2 + 1), write=4 * (64 + 2 * 256),
    ),
    Row(
        "grouped_shared_cache", "GroupQueryAttention", FULL, WRITTEN, GROUPS, MS,
        macs=DECODED * 16, other=DECODED * 7, special=DECODED * 2,
        read=4 * (64 + 32 + 32 + 2 * 224 + 2 + 1),  # 7 of the 100 tokens
        write=4 * (64 + 2 * 32),  # the new one
    ),
    Row(
        "grouped_everything", "GroupQueryAttention",
        [*GROWING, None, None, None, (1, 1, 1, 8), (4,), None, None, (8,), (8,)], GROWN,
        {**GROUPS, "softcap": 30.0}, MS,
        macs=DECODED * 16,
        other=DECODED * (1 + 3 + 1 + 1 + 5)  # scale, softcap, mask, bias, softmax
        + 12 * 8 * 3 + 12 * 3 + 12 * 8  # RMS of 2 x (4 + 2) heads, and the scale
        + 8 * 4,  # a sink in each of 2 x 4 softmaxes: max, subtract, exp, add
        special=DECODED * 4 + 12 * 8 + 12 * 2 + 8,
    ),
    Row(
        "grouped_quantized_cache", "GroupQueryAttention", INT8, INT8_OUT,
        {**GROUPS, "k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR", "smooth_softmax": 1}, MS,
        macs=DECODED * 16,
        other=DECODED * 7 + 8 * 4
        + 2 * (2 * 2 * 8 * 5 + 2 * 2 * 8 * 8 * 2),  # K and V: new tokens quantized, all eight dequantized
        special=DECODED * 2 + 8 + 2 * (2 * 2 * 8),
        read=4 * (64 + 32 + 32) + 2 * 224 + 4 * 3, write=4 * 64 + 2 * 256,
    ),
    Row(
        "paged", "PagedAttention", [(4, 32), (4, 16), (4, 16), PAGES, PAGES, BOUNDS, PAST, BLOCKS],
        [(4, 32), PAGES, PAGES], GROUPS, MS,
        macs=4 * PAIRS * (8 + 8), other=4 * PAIRS * 7, special=4 * PAIRS * 2,
        read=4 * (128 + 64 + 64 + 3 + 2 + 8 + 2 * 7 * 16),  # the 7 past tokens of 2 x 8
        write=4 * (128 + 2 * 4 * 16),  # the four new ones
    ),
    Row(
        "paged_packed_with_everything", "PagedAttention",
        [((4, 64), F16), None, None, (PAGES, "int8"), (PAGES, "int8"), BOUNDS, PAST, BLOCKS, (9, 3), (9, 3), None,
         (4,), (8,), (8,), (1,), (1,)],
        [((4, 32), F16)],
        {**GROUPS, "do_rotary": 1, "k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR"}, MS,
        macs=4 * PAIRS * 16,
        other=4 * PAIRS * 7 + 24 * 8 * 3 + 24 * 3 + 24 * 8  # 4 tokens x 6 heads, normalized
        + 24 * 6 * 3  # 6 of the 8 elements of a head are turned
        + 4 * 4 * 4  # sinks
        + 2 * (4 * 16 * 5 + 11 * 16 * 2),
        special=4 * PAIRS * 2 + 24 * 8 + 24 * 2 + 16 + 2 * 64, compute_type=F16,
    ),
    Row(
        "paged_latent", "PagedAttention",
        [(4, 4 * 24), (4, 24), None, (50, 16, 1, 24), None, BOUNDS, PAST, BLOCKS], [(4, 4 * 16), (50, 16, 1, 24)],
        {"num_heads": 4, "kv_num_heads": 1, "kv_cache_layout": "LATENT", "v_head_size": 16, "scale": 0.1}, MS,
        macs=4 * PAIRS * (24 + 16), other=4 * PAIRS * 7, special=4 * PAIRS * 2,
        read=4 * (384 + 96 + 3 + 2 + 8 + 7 * 24), write=4 * (256 + 4 * 24),
    ),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["grouped_attention"], ROWS) == set()


def test_a_full_buffer_with_no_length_is_unknown() -> None:
    inputs, outputs = cached(100, 100)
    with pytest.raises(Unknown, match="not known before a run"):
        cost_of("GroupQueryAttention", inputs, outputs, MS, **GROUPS)


def test_a_window_cache_is_unknown() -> None:
    with pytest.raises(Unknown, match="window"):
        cost_of("GroupQueryAttention", FULL, WRITTEN, MS, **GROUPS, sliding_window_cache=1, local_window_size=4)


def test_pages_of_unknown_lengths_are_unknown() -> None:
    inputs = [(4, 32), (4, 16), (4, 16), PAGES, PAGES, ((3,), I32), ((2,), I32), BLOCKS]
    with pytest.raises(Unknown, match="not known before a run"):
        cost_of("PagedAttention", inputs, [(4, 32)], MS, **GROUPS)
    inputs[5:7] = BOUNDS, value("past", 7)
    with pytest.raises(Unknown, match="fit"):
        cost_of("PagedAttention", inputs, [(4, 32)], MS, **GROUPS)

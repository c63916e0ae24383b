from tests.analyzer.rules.table import Row, parametrize, untested

MS = "com.microsoft"
CACHES = [(100, 4), (100, 4)]

ROWS = [
    # 2 x 3 heads x 5 positions x 8: three FLOPs for each element; 10 rows of 4 cosines and sines
    Row("rotary", "RotaryEmbedding", [(2, 3, 5, 8), *CACHES, ((2, 5), "int64")], [(2, 3, 5, 8)], version=23,
        other=3 * 240, read=4 * 240 + 2 * 4 * 40 + 8 * 10, write=4 * 240),
    Row("rotary_without_ids", "RotaryEmbedding", [(2, 3, 5, 8), (2, 5, 4), (2, 5, 4)], [(2, 3, 5, 8)], version=23,
        other=3 * 240, read=4 * 240 + 2 * 4 * 40),
    Row("rotary_partial", "RotaryEmbedding", [(2, 3, 5, 8), (2, 5, 2), (2, 5, 2)], [(2, 3, 5, 8)],
        {"rotary_embedding_dim": 4}, version=23, other=3 * 120),
    Row("rotary_3d_partial", "RotaryEmbedding", [(2, 5, 24), (2, 5, 2), (2, 5, 2)], [(2, 5, 24)],
        {"rotary_embedding_dim": 4, "num_heads": 3}, version=23, other=3 * (10 * 3 * 4)),
    Row("rotary_small_cache", "RotaryEmbedding", [(2, 3, 5, 8), (6, 4), (6, 4), ((2, 5), "int64")], [(2, 3, 5, 8)],
        version=23, other=3 * 240, read=4 * 240 + 2 * 4 * 24 + 8 * 10),  # six rows are all there are
    Row("contrib_rotary", "RotaryEmbedding", [(2, 5, 24), ((2, 5), "int64"), *CACHES], [(2, 5, 24)], domain=MS,
        other=3 * 240, read=4 * 240 + 2 * 4 * 40 + 8 * 10),
    Row("multimodal_rotary", "MRotaryEmbedding", [(2, 3, 5, 8), ((3, 2, 5), "int64"), *CACHES], [(2, 3, 5, 8)],
        domain=MS, other=3 * 240, read=4 * 240 + 2 * 4 * 40 + 8 * 30),
    # SIN, COS and two conversions of 40 angles; two multiplies and an add for q and for k
    Row("gemma_rotary", "GemmaRotaryEmbedding", [(1, 5, 8), *[((1, 2, 5, 8), "float16")] * 4],
        [((1, 2, 5, 8), "float16")] * 2, domain=MS, other=4 * 40 + 3 * (80 + 80), special=2 * 40,
        read=4 * 40 + 4 * 2 * 80, write=2 * 2 * 80, other_type="float16"),
    # 6 heads, 8 of 12 elements each: square, sum, DIVIDE, scale; DIVIDE, add, SQRT; 4 of them turned
    Row("rms_norm_rotary", "RMSNormRotary",
        [((1, 2, 3, 12), "float16"), (8,), ((1, 2), "int64"), (9, 2), (9, 2)], [((1, 2, 24), "float16")],
        {"input_width": 8, "rotary_embedding_dim": 4}, domain=MS,
        other=4 * 48 + 3 * 6 + 3 * (6 * 4), special=48 + 2 * 6, other_type="float32",
        read=2 * 48 + 4 * 8 + 8 * 2 + 2 * 4 * 18),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["rotary"], ROWS) == set()

from tests.analyzer.rules.table import Row, parametrize, untested

MS = "com.microsoft"
X = (2, 8, 16)
N, ROWS_OF_X, H = 256, 16, (16,)
NHWC = (2, 4, 5, 6)
M = 240

ROWS = [
    # skip, bias; a LayerNormalization: 5 FLOPs an element, 5 a row; scale, shift
    Row("skip_layer_norm", "SkipLayerNormalization", [X, X, H, H, H], [X], domain=MS,
        other=(2 + 5 + 2) * N + 5 * ROWS_OF_X, special=4 * ROWS_OF_X, read=4 * (2 * N + 3 * 16), write=4 * N),
    Row("skip_layer_norm_sum", "SkipLayerNormalization", [X, X, H], [X, None, None, X], domain=MS,
        other=(1 + 5 + 1) * N + 5 * ROWS_OF_X, special=4 * ROWS_OF_X, write=2 * 4 * N),
    Row("skip_layer_norm_half", "SkipLayerNormalization", [(X, "float16"), (X, "float16"), (H, "float16")],
        [(X, "float16")], domain=MS, other=(1 + 5 + 1) * N + 5 * ROWS_OF_X, special=4 * ROWS_OF_X,
        other_type="float32"),
    # skip, bias; square, sum, DIVIDE; scale; DIVIDE, add, SQRT
    Row("skip_rms_norm", "SkipSimplifiedLayerNormalization", [X, X, H, H], [X], domain=MS,
        other=(2 + 3 + 1) * N + 3 * ROWS_OF_X, special=N + 2 * ROWS_OF_X),
    Row("group_norm", "GroupNorm", [NHWC, (6,), (6,)], [NHWC], {"groups": 3}, domain=MS,
        other=(5 + 2) * M + 5 * (2 * 3), special=4 * (2 * 3)),
    Row("group_norm_silu", "GroupNorm", [NHWC, (6,), (6,)], [NHWC], {"groups": 3, "activation": 1}, domain=MS,
        other=(5 + 2 + 4) * M + 5 * (2 * 3), special=2 * M + 4 * (2 * 3)),
    Row("skip_group_norm", "SkipGroupNorm", [NHWC, (6,), (6,), NHWC, (6,)], [NHWC, NHWC], {"groups": 3}, domain=MS,
        other=(2 + 5 + 2) * M + 5 * (2 * 3), special=4 * (2 * 3), write=2 * 4 * M),
    # 16 words of 1000, 8 positions of 512, both segments; two adds. The mask counts words: 16 adds
    Row("embed", "EmbedLayerNormalization",
        [((2, 8), "int32"), ((2, 8), "int32"), (1000, 16), (512, 16), (2, 16), H, H, ((2, 8), "int32")],
        [X, ((2,), "int32")], domain=MS,
        other=(2 + 5 + 2) * N + 5 * ROWS_OF_X + 16, special=4 * ROWS_OF_X, other_type="float32",
        read=4 * (256 + 128 + 32) + 3 * 4 * 16 + 4 * (16 + 16), write=4 * N + 8),
    # no segments, own positions
    Row("embed_positions", "EmbedLayerNormalization",
        [((2, 8), "int32"), None, (1000, 16), (512, 16), None, H, H, None, ((2, 8), "int32")], [X], domain=MS,
        other=(1 + 5 + 2) * N + 5 * ROWS_OF_X, special=4 * ROWS_OF_X, read=4 * (256 + 256) + 2 * 4 * 16 + 4 * 32),
    # convert, subtract, multiply for 3 x 256 elements, 16 scales and 16 shifts
    Row("quantized_embed", "QEmbedLayerNormalization",
        [((2, 8), "int32"), ((2, 8), "int32"), ((1000, 16), "uint8"), ((512, 16), "uint8"), ((2, 16), "uint8"),
         (H, "uint8"), (H, "uint8"), None, (), (), (), (), (), *[((), "uint8")] * 5],
        [X, ((2,), "int32")], domain=MS,
        other=(2 + 5 + 2) * N + 5 * ROWS_OF_X + 3 * (3 * N + 32), special=4 * ROWS_OF_X, other_type="float32",
        read=2 * 4 * 16 + (256 + 128 + 32) + 2 * 16 + 5 * 4 + 5),
    # convert, multiply; 5; scale, shift; DIVIDE, round, two clamps, convert
    Row("ordered_layer_norm", "QOrderedLayerNormalization", [(X, "int8"), (), H, H, ()], [(X, "int8")], domain=MS,
        other=(2 + 5 + 2 + 5) * N + 5 * ROWS_OF_X, special=N + 4 * ROWS_OF_X, read=N + 4 * (1 + 16 + 16 + 1),
        write=N, other_type="float32"),
    Row("branchwise_rms_norm", "BranchwiseRMSNorm", [X, H], [X], domain=MS,
        other=(3 + 1) * N + 3 * ROWS_OF_X, special=N + 2 * ROWS_OF_X),
    Row("branchwise_rms_norm_flat", "BranchwiseRMSNorm", [X], [X], {"num_branches": 4}, domain=MS,
        other=3 * N + 3 * (16 * 4), special=N + 2 * (16 * 4)),
    # rows of 4 in a last axis of 16; silu: EXP, add, DIVIDE, multiply; the product
    Row("gated_rms_norm", "GatedRMSNorm", [X, (4,), X], [X], domain=MS,
        other=(3 + 1) * N + 3 * 64 + 5 * N, special=N + 2 * 64 + 2 * N),
    Row("gated_rms_norm_sigmoid", "GatedRMSNorm", [X, (4,), X], [X], {"activation": "sigmoid"}, domain=MS,
        other=(3 + 1) * N + 3 * 64 + 4 * N, special=N + 2 * 64 + 2 * N),
    # 2 RMS norms with scale, a dot product for each of 16 rows; scale, sign, absolute, max, SQRT, multiply, sigmoid
    Row("engram_gate", "EngramGate", [(2, 4, 2, 16), (2, 4, 2, 16), (2, 4, 16), (2, 16), (2, 16)], [(2, 4, 2, 16)],
        domain=MS, macs=16 * 16, other=2 * (4 * 256 + 3 * 16) + 16 * (6 + 3) + 256,
        special=2 * (256 + 2 * 16) + 16 * 3),
    Row("engram_gate_normed", "EngramGate",
        [(2, 4, 2, 16), (2, 4, 2, 16), (2, 4, 16), (2, 16), (2, 16), (2, 16)], [(2, 4, 2, 16)] * 2,
        domain=MS, macs=256, other=3 * (4 * 256 + 3 * 16) + 16 * 9 + 256, special=3 * (256 + 2 * 16) + 16 * 3),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["contrib_normalization"], ROWS) == set()

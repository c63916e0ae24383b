from tests.analyzer.rules.table import Row, parametrize, untested

MS, NCHWC, NHWC = "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"
ROWS = [
    Row(
        "fused_conv", "FusedConv", [(1, 3, 8, 8), (4, 3, 3, 3), (4,), (1, 4, 6, 6)], [(1, 4, 6, 6)],
        {"activation": "Relu"}, MS,
        macs=4 * 6 * 6 * (3 * 3 * 3), other=4 * 6 * 6 * (1 + 1 + 1),  # bias, sum, relu
        read=4 * (3 * 64 + 4 * 27 + 4 + 4 * 36), write=4 * (4 * 36),
    ),
    Row(
        "fused_conv_sigmoid", "FusedConv", [(1, 3, 8, 8), (4, 3, 3, 3)], [(1, 4, 6, 6)], {"activation": "Sigmoid"}, MS,
        macs=4 * 6 * 6 * 27, other=4 * 36 * 3, special=4 * 36 * 2,
    ),
    Row("nhwc_conv", "NhwcConv", [(1, 8, 8, 3), (4, 3, 3, 3), (4,)], [(1, 6, 6, 4)], domain=MS,
        macs=6 * 6 * 4 * 27, other=6 * 6 * 4),
    Row(
        "nhwc_fused_conv", "NhwcFusedConv", [(1, 8, 8, 6), (6, 1, 3, 3), None, (1, 6, 6, 6)], [(1, 6, 6, 6)],
        {"activation": "Clip", "group": 6}, MS,
        macs=6 * 6 * 6 * 9, other=6 * 6 * 6 * (1 + 2),  # sum, min and max
    ),
    Row("nchwc_conv", "Conv", [(1, 3, 8, 8), (8, 3, 3, 3), (8,)], [(1, 8, 6, 6)], {"activation": "Relu"}, NCHWC,
        macs=8 * 36 * 27, other=8 * 36 * 2),
    Row("internal_nhwc_conv", "Conv", [(1, 8, 8, 3), (4, 3, 3, 3)], [(1, 6, 6, 4)], domain=NHWC, macs=4 * 36 * 27),
    Row(
        "conv_transpose_dynamic_pads", "ConvTransposeWithDynamicPads",
        [(1, 4, 5, 5), (4, 6, 3, 3), ((4,), "int64"), (6,)], [(1, 6, 7, 7)], domain=MS,
        macs=(4 * 25) * (6 * 9), other=6 * 49,
    ),
    Row("conv_transpose_dynamic_pads_bare", "ConvTransposeWithDynamicPads",
        [(1, 4, 5, 5), (4, 6, 3, 3), ((4,), "int64")], [(1, 6, 7, 7)], domain=MS, macs=(4 * 25) * (6 * 9)),
    Row(
        "varlen_causal_conv", "VarlenCausalConvWithState",
        [(12, 6), (6, 1, 4), ((3,), "int32"), (6,), (2, 6, 3)], [(12, 6), (2, 6, 3)], {"activation": "swish"}, MS,
        macs=12 * 6 * 4, other=12 * 6 * (1 + 4), special=12 * 6 * 2,  # bias, silu
    ),
    Row(
        "varlen_causal_conv_dynamic", "VarlenCausalConvWithState",
        [(12, 6), (6, 1, 2), ((3,), "int32"), None, (2, 6, 1), None, (12, 2, 3), (12, 1)], [(12, 6), (2, 6, 1)],
        {"group_size": 2}, MS,
        macs=12 * 6 * 2, other=12 * 6 * 3,  # a delta added to each of two taps, the mask
    ),
    Row(
        "word_conv_embedding", "WordConvEmbedding", [((4, 9), "int32"), (5, 1, 3, 6), (5,), (100, 6)], [(4, 5)],
        domain=MS,
        macs=4 * 7 * 5 * (3 * 6),  # 7 positions of a window of 3 over 9 characters
        other=4 * 7 * 5 * (1 + 1 + 1), special=4 * 7 * 5,  # bias, tanh, max
        read=4 * (36 + 90 + 5 + 36 * 6), write=4 * 20, compute_type="float32",  # 36 of the 100 rows
    ),
    Row(
        "word_conv_embedding_small_table", "WordConvEmbedding", [((4, 9), "int32"), (5, 1, 3, 6), (5,), (20, 6)],
        [(4, 5)], domain=MS,
        macs=4 * 7 * 5 * 18, other=4 * 7 * 5 * 3, special=4 * 7 * 5, read=4 * (36 + 90 + 5 + 20 * 6),
    ),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["contrib_convolution"], ROWS) == set()

from tests.analyzer.rules.table import Row, parametrize, untested

ROWS = [
    Row(
        "conv", "Conv", [(2, 3, 8, 8), (8, 3, 3, 3), (8,)], [(2, 8, 6, 6)],
        macs=2 * 8 * 6 * 6 * (3 * 3 * 3),  # N*M*H*W x C*kh*kw
        other=2 * 8 * 6 * 6,  # one bias add per output element
        read=4 * (2 * 3 * 8 * 8 + 8 * 3 * 3 * 3 + 8), write=4 * (2 * 8 * 6 * 6),
    ),
    Row(
        "conv_padded_strided_dilated", "Conv", [(1, 4, 9, 9), (6, 4, 3, 3)], [(1, 6, 4, 4)],
        {"pads": [1, 1, 1, 1], "strides": [2, 2], "dilations": [2, 2]},
        macs=6 * 4 * 4 * (4 * 3 * 3),  # padding counts as data, dilation adds no taps
    ),
    Row(
        "conv_1x1_strided", "Conv", [(1, 4, 9, 9), (6, 4, 1, 1)], [(1, 6, 5, 5)], {"strides": [2, 2]},
        macs=6 * 5 * 5 * 4,
        read=4 * (4 * 5 * 5 + 6 * 4),  # every second element of every second row: 5 x 5 of 9 x 9
    ),
    Row(
        "conv_3x3_strided_by_4", "Conv", [(1, 1, 12, 12), (1, 1, 3, 3)], [(1, 1, 3, 3)], {"strides": [4, 4]},
        macs=3 * 3 * 3 * 3,
        read=4 * (9 * 9 + 9),  # windows do not overlap and leave one row in four out: 3 windows x 3 of 12
    ),
    Row(
        "conv_depthwise", "Conv", [(1, 16, 7, 7), (16, 1, 3, 3)], [(1, 16, 5, 5)], {"group": 16},
        macs=16 * 5 * 5 * (1 * 3 * 3),  # each channel sees itself only
    ),
    Row("conv_1d", "Conv", [(2, 4, 10), (8, 4, 3)], [(2, 8, 8)], macs=2 * 8 * 8 * (4 * 3)),
    Row(
        "conv_3d_float16", "Conv", [((1, 2, 4, 4, 4), "float16"), ((3, 2, 2, 2, 2), "float16")],
        [((1, 3, 3, 3, 3), "float16")],
        macs=3 * 3 * 3 * 3 * (2 * 2 * 2 * 2), compute_type="float16",
        read=2 * (2 * 4 * 4 * 4 + 3 * 2 * 2 * 2 * 2), write=2 * (3 * 3 * 3 * 3),
    ),
    Row(
        "conv_transpose", "ConvTranspose", [(1, 4, 5, 5), (4, 6, 3, 3), (6,)], [(1, 6, 7, 7)],
        macs=(4 * 5 * 5) * (6 * 3 * 3),  # each input element x M*kh*kw
        other=6 * 7 * 7,  # bias
    ),
    Row(
        "conv_transpose_grouped_cropped", "ConvTranspose", [(1, 4, 5, 5), (4, 3, 3, 3)], [(1, 6, 9, 9)],
        {"group": 2, "strides": [2, 2], "pads": [1, 1, 1, 1]},
        macs=(4 * 5 * 5) * (3 * 3 * 3),  # M/group = 3; cropped products are computed
    ),
    Row(
        "deform_conv", "DeformConv", [(1, 4, 6, 6), (5, 4, 3, 3), (1, 36, 4, 4), (5,), (1, 18, 4, 4)], [(1, 5, 4, 4)],
        {"offset_group": 2},
        macs=(5 * 4 * 4) * (4 * 3 * 3),
        other=(2 * 9 * 16) * (4 * 2 + 4)  # points: 2 coordinates x (add, floor, 2 subtracts), 4 weights of 1 multiply
        + (4 * 9 * 16) * (4 + 3 + 1)  # samples: 4 multiplies, 3 adds, the mask
        + 5 * 4 * 4,  # bias
    ),
    Row(
        "deform_conv_grouped", "DeformConv", [(2, 4, 6, 6), (4, 2, 2, 2), (2, 8, 5, 5)], [(2, 4, 5, 5)], {"group": 2},
        macs=(2 * 4 * 5 * 5) * (2 * 2 * 2),
        other=(2 * 4 * 25) * 12 + (2 * 4 * 4 * 25) * 7,  # points; samples of all 4 channels
    ),
    Row(
        "deform_conv_3d", "DeformConv", [(1, 2, 3, 3, 3), (1, 2, 2, 2, 2), (1, 24, 2, 2, 2)], [(1, 1, 2, 2, 2)],
        macs=(2 * 2 * 2) * (2 * 2 * 2 * 2),
        other=(8 * 8) * (4 * 3 + 8 * 2)  # points: 3 coordinates x 4, 8 weights of 2 multiplies
        + (2 * 8 * 8) * (8 + 7),  # samples: 8 multiplies, 7 adds
    ),
    Row(
        "causal_conv_with_state", "CausalConvWithState", [(2, 6, 5), (6, 1, 4), (6,), (2, 6, 3)],
        [(2, 6, 5), (2, 6, 3)], {"activation": "silu"}, version=27,
        macs=(2 * 6 * 5) * 4,  # 4 taps of its own channel
        other=(2 * 6 * 5) * (1 + 4), special=(2 * 6 * 5) * 2,  # bias; exp, add, divide, multiply
        read=4 * (2 * 6 * 5 + 6 * 4 + 6 + 2 * 6 * 3), write=4 * (2 * 6 * 5 + 2 * 6 * 3),
    ),
    Row(
        "causal_conv_bare", "CausalConvWithState", [(1, 3, 7), (3, 1, 2)], [(1, 3, 7)], version=27,
        macs=(3 * 7) * 2,
    ),
    Row(
        "causal_conv_ms_2d", "CausalConvWithState", [(2, 6, 5, 7), (6, 1, 3, 4), (6,)], [(2, 6, 5, 7)],
        {"ndim": 2, "activation": "swish"}, "com.microsoft",
        macs=(2 * 6 * 5 * 7) * (3 * 4), other=420 * (1 + 4), special=420 * 2,
    ),
    Row(
        "causal_conv_ms_slice", "CausalConvWithState", [(2, 5, 20), (6, 1, 4)], [(2, 5, 6)],
        {"channels_last": 1, "input_channels": 6}, "com.microsoft",
        macs=(2 * 5 * 6) * 4, read=4 * (2 * 5 * 6 + 6 * 4),  # 6 of 20 channels
    ),
    Row("internal_nhwc_conv_transpose", "ConvTranspose",
        [(1, 5, 5, 4), (4, 6, 3, 3), (6,)], [(1, 7, 7, 6)], domain="com.ms.internal.nhwc",
        macs=(4 * 25) * (6 * 9), other=6 * 49),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["convolution"], ROWS) == set()

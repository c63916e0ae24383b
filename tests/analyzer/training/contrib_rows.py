"""Hand table of backward costs of ONNX Runtime's own operators: those that it fuses, packs or lays out anew."""

from __future__ import annotations

from tests.analyzer.training.rows import Row

S = (2, 3)  # 6 elements
MS, BLOCKED, NHWC = "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"
IDS = ((2, 5), "int32")
PACKED = ((5, 2, 16), "uint8")  # 5 x 64 weights of 4 bits in blocks of 32

PRODUCTS = [
    # 216 outputs of 2 * 9 taps; the bias sums to 6; a Relu compares what it gives; Z takes the gradient as it is
    Row("FusedConv", [(1, 4, 8, 8), (6, 2, 3, 3), (6,), (1, 6, 6, 6)], [(1, 6, 6, 6)], {0, 1, 2, 3},
        {0: 216 * 18, 1: 216 * 18}, other=(216 - 6) + 216, keeps=["in1", "in0", "out0"],
        attributes={"group": 2, "activation": "Relu"}, domain=MS),
    Row("FusedConv", [(1, 4, 8, 8), (6, 4, 3, 3)], [(1, 6, 6, 6)], {3}, other=3 * 216, keeps=["out0"],
        attributes={"activation": "Sigmoid"}, domain=MS),
    Row("NhwcConv", [(1, 8, 8, 4), (6, 3, 3, 4)], [(1, 6, 6, 6)], {1}, {1: 216 * 36}, keeps=["in0"], domain=MS),
    # the slope of a LeakyRelu is 2, of what the product gave
    Row("NhwcFusedConv", [(1, 8, 8, 4), (6, 3, 3, 4)], [(1, 6, 6, 6)], {0}, {0: 216 * 36}, other=2 * 216,
        keeps=["in1"], beside=4 * 216, attributes={"activation": "LeakyRelu"}, domain=MS),
    Row("Conv", [(1, 8, 8, 8), (8, 8, 3, 3)], [(1, 8, 6, 6)], {0, 1}, {0: 288 * 72, 1: 288 * 72}, other=288,
        keeps=["in1", "in0", "out0"], attributes={"activation": "Relu"}, domain=BLOCKED),
    Row("Conv", [(1, 8, 8, 4), (6, 4, 3, 3), (6,)], [(1, 6, 6, 6)], {2}, other=216 - 6, domain=NHWC),
    Row("ConvTranspose", [(1, 3, 3, 4), (4, 2, 2, 2)], [(1, 6, 6, 2)], {0, 1}, {0: 36 * 8, 1: 36 * 8},
        keeps=["in1", "in0"], domain=NHWC),
    Row("ConvTransposeWithDynamicPads", [(1, 4, 3, 3), (4, 2, 2, 2), ((4,), "int64"), (2,)], [(1, 2, 6, 6)],
        {0, 1, 3}, {0: 36 * 8, 1: 36 * 8}, other=72 - 2, keeps=["in1", "in0"], domain=MS),
    Row("CausalConvWithState", [(1, 4, 5), (4, 1, 3), (4,)], [(1, 4, 5)], {0, 1, 2}, {0: 20 * 3, 1: 20 * 3},
        other=20 - 4, keeps=["in1", "in0"], domain=MS),
    Row("FusedMatMulActivation", [(2, 3), (3, 5)], [(2, 5)], {0, 1}, {0: 30, 1: 30}, other=10,
        keeps=["in1", "in0", "out0"], attributes={"activation": "Relu"}, domain=MS),
    Row("FusedGemm", [(2, 3), (3, 5), (5,)], [(2, 5)], {0, 1, 2}, {0: 30, 1: 30}, other=(10 - 5) + 3 * 10,
        keeps=["in1", "in0", "out0"], attributes={"activation": "Tanh"}, domain=MS),
    Row("GemmFastGelu", [(2, 3), (3, 5), (5,)], [(2, 5)], {0, 1, 2}, {0: 30, 1: 30}, other=(10 - 5) + 16 * 10,
        special=10, keeps=["in1", "in0"], beside=4 * 10, domain=MS),
    # 2 x 5 sums over 64, and 64 * 5 weights that are converted, shifted and scaled once more
    Row("MatMulNBits", [(2, 64), PACKED, (10,)], [(2, 5)], {0}, {0: 10 * 64}, other=3 * 320, keeps=["in1", "in2"],
        attributes={"K": 64, "N": 5}, domain=MS),
    Row("MatMulNBits", [(2, 64), PACKED, (10,), None, None, (5,)], [(2, 5)], {5}, other=10 - 5,
        attributes={"K": 64, "N": 5}, domain=MS),
    Row("MatMulNBits", [(2, 64), ((0,), "uint8"), (0,)], [(2, 5)], {0}, attributes={"K": 64, "N": 5}, domain=MS),
    Row("MatMulBnb4", [(2, 64), ((160,), "uint8"), (5,)], [(2, 5)], {0}, {0: 10 * 64}, other=320,
        keeps=["in1", "in2"], attributes={"K": 64, "N": 5}, domain=MS),
    Row("MatMulFpQ4", [(2, 64), ((200,), "uint8"), ((2,), "int64")], [(2, 5)], {0}, {0: 10 * 64}, other=3 * 320,
        keeps=["in1", "in2"], domain=MS),
    Row("MatMulFpQ4", [(2, 64), ((200,), "uint8"), ((2,), "int64")], [(2, 5)], {0}, {0: 10 * 64}, other=2 * 320,
        keeps=["in1", "in2"], attributes={"blk_quant_type": 0}, domain=MS),
    Row("MatMulBlockQuantizedFp4Weight", [(2, 64), ((5, 32), "uint8"), ((5, 4), "float8e4m3fn"), (), None, (5,)],
        [(2, 5)], {0, 5}, {0: 10 * 64}, other=2 * (320 + 20) + (10 - 5), keeps=["in1", "in2", "in3"], domain=MS),
    Row("MatMulBlockQuantizedFp8Weight", [(2, 64), ((5, 64), "float8e4m3fn"), (5,)], [(2, 5)], {0}, {0: 10 * 64},
        other=2 * 320, keeps=["in1", "in2"], domain=MS),
    # decoded, the product scaled, then the slope of silu, 8, of what that gave
    Row("MatMulPacked", [(2, 64), ((160,), "uint8"), ()], [(2, 5)], {0}, {0: 10 * 64}, other=2 * 320 + 10 + 8 * 10,
        special=2 * 10, keeps=["in1", "in2"], beside=4 * 10,
        attributes={"K": 64, "N": 5, "activation_type": "silu"}, domain=MS),
]  # fmt: skip

ELEMENTWISE = [
    Row("BiasAdd", [S, (3,), S], [S], {0, 1, 2}, other=6 - 3, domain=MS),
    # 6 outputs of 12: gelu(right) is 5 and a product; the slope 11 and a product
    Row("BiasSplitGelu", [(2, 6), (6,)], [S], {0, 1}, other=6 * (5 + 1 + 11 + 1) + (12 - 6), special=6 * (1 + 2),
        beside=4 * 12, domain=MS),
    Row("BiasSoftmax", [S, (3,)], [S], {0, 1}, other=4 * 6 + (6 - 3), keeps=["out0"], domain=MS),
    Row("BiasDropout", [S, (3,), S], [S], {0, 1, 2}, other=2 * 6 + (6 - 3), beside=6, domain=MS),
    Row("BiasDropout", [S, (3,), S], [S], {2}, domain=MS),
    Row("BitmaskDropout", [(5, 9)], [(5, 9)], {0}, other=2 * 45, beside=4 * 2, domain=MS),  # 45 bits in two words
    Row("BitmaskBiasDropout", [(5, 9), (9,)], [(5, 9)], {0, 1}, other=2 * 45 + (45 - 9), beside=4 * 2, domain=MS),
    Row("ScaledSiLU", [S], [S], {0}, other=6 * (8 + 2), special=6 * 2, keeps=["in0"], domain=MS),
    Row("ScaledSiLU", [S, ()], [S], {0, 1}, other=6 * (8 + 3) + (6 - 1), special=6 * 2, keeps=["in0", "in1"],
        domain=MS),
    Row("SwiGLU", [S, S], [S], {0, 1}, other=6 * (9 + 5), special=6 * 4, keeps=["in0", "in1"], domain=MS),
    # g: 8, 2 for alpha, the product with l + beta, which is an add; l: swish with alpha 5, a product; clamped again: 3
    Row("SwiGLU", [S, S], [S], {0, 1}, other=6 * (12 + 6 + 3), special=6 * 4, keeps=["in0", "in1"], domain=MS,
        attributes={"activation_alpha": 1.702, "activation_beta": 1.0, "limit": 7.0}),
    Row("GatedAdd", [S, S, (2, 1)], [S], {0, 1, 2}, other=6 + 6 + (6 - 2), keeps=["in1", "in2"], domain=MS),
    # 2 rows of a gate of 4: its gradient is 6 products summed to 2, 3 for each sigmoid, and 8 MACs for each operand
    Row("GatedAdd", [S, S, (2, 4), (4, 1)], [S], {1, 2, 3}, {2: 8, 3: 8}, other=6 + 6 + (6 - 2) + 3 * 2,
        keeps=["in1", "in3", "in2"], beside=4 * 2, domain=MS),
    Row("ComplexMul", [(2, 3, 2), (3, 2)], [(2, 3, 2)], {0, 1}, other=(12 - 6) + 2 * 3 * 12, keeps=["in1", "in0"],
        domain=MS),
    Row("ComplexMulConj", [(3, 2), (3, 2)], [(3, 2)], {0}, other=3 * 6, keeps=["in1"], domain=MS),
]  # fmt: skip

NORMALIZATION = [
    # 200 elements: 10 for x, 2 for the scale, 1 for the shift; 2 x 2 rows of 2 divisions; a Swish of 8
    Row("GroupNorm", [(2, 5, 5, 4), (4,), (4,)], [(2, 5, 5, 4)], {0, 1, 2}, other=200 * 13 + 2 * 4 + 8 * 200,
        special=2 * 4 + 2 * 200, keeps=["in0"], beside=4 * (2 * 4 + 200), attributes={"groups": 2, "activation": 1},
        domain=MS),
    Row("SkipGroupNorm", [(2, 5, 5, 4), (4,), (4,), (2, 1, 1, 4), (4,)], [(2, 5, 5, 4)], {0, 1, 2, 3, 4},
        other=200 * 13 + 2 * 4 + (200 - 8) + (200 - 4), special=2 * 4, beside=4 * (2 * 4 + 200),
        attributes={"groups": 2, "activation": 0}, domain=MS),
    Row("SkipGroupNorm", [(2, 5, 5, 4), (4,), (4,), (2, 5, 5, 4)], [(2, 5, 5, 4), (2, 5, 5, 4)], {1, 2},
        other=200 * (2 + 2 + 1), keeps=["out1"], beside=4 * 2 * 4, attributes={"groups": 2, "activation": 0},
        domain=MS),
    Row("SkipLayerNormalization", [(4, 3), (4, 3), (3,), (3,)], [(4, 3)], {3}, other=12, domain=MS),
    # 10 rows of 4: 10 for the sum, 2 and 1; 2 divisions a row; an add for each of three tables
    Row("EmbedLayerNormalization", [IDS, IDS, (9, 4), (7, 4), (2, 4), (4,), (4,)], [(2, 5, 4)], {2, 3, 4, 5, 6},
        other=40 * (10 + 2 + 1 + 3) + 2 * 10, special=2 * 10, keeps=["in0", "in1"], beside=4 * (2 * 10 + 40),
        domain=MS),
    Row("EmbedLayerNormalization", [IDS, None, (9, 4), (7, 4), None, (4,), (4,)], [(2, 5, 4), None, (2, 5, 4)], {2},
        other=40 * (10 + 1) + 2 * 10, special=2 * 10, keeps=["out2", "in0"], beside=4 * 2 * 10, domain=MS),
    Row("EmbedLayerNormalization", [IDS, None, (9, 4), (7, 4), None, (4,), (4,)], [(2, 5, 4)], {6}, other=40,
        domain=MS),
    # 2 branches of 3 in each of 2 rows: 4 rows
    Row("BranchwiseRMSNorm", [(2, 6), (6,)], [(2, 6)], {0, 1}, other=12 * (7 + 2) + 4, special=4, keeps=["in0"],
        beside=4 * 4, attributes={"num_branches": 2}, domain=MS),
]  # fmt: skip

PLACES = [
    Row("MaxPool", [(1, 8, 4, 4)], [(1, 8, 2, 2)], {0}, other=32, beside=8 * 32, attributes={"kernel_shape": [2, 2]},
        domain=BLOCKED),
    Row("GlobalMaxPool", [(1, 8, 4, 4)], [(1, 8, 1, 1)], {0}, other=8, beside=8 * 8, domain=BLOCKED),
    Row("AveragePool", [(1, 8, 4, 4)], [(1, 8, 2, 2)], {0}, other=32 * (1 + 4), special=32,
        attributes={"kernel_shape": [2, 2]}, domain=BLOCKED),
    Row("GlobalAveragePool", [(1, 8, 4, 4)], [(1, 8, 1, 1)], {0}, other=8, special=8, domain=BLOCKED),
    Row("NhwcMaxPool", [(1, 4, 4, 2)], [(1, 2, 2, 2)], {0}, other=8, beside=8 * 8,
        attributes={"kernel_shape": [2, 2]}, domain=MS),
    Row("MaxpoolWithMask", [(1, 2, 4, 4), ((1, 2, 4, 4), "int32")], [(1, 2, 2, 2)], {0}, other=8, beside=8 * 8,
        attributes={"kernel_shape": [2, 2]}, domain=MS),
    *(Row(op, [S], [S], {0}, domain=BLOCKED) for op in ("ReorderInput", "ReorderOutput")),
    Row("SampleOp", [S], [S], {0}, domain=MS),
    Row("Upsample", [(1, 8, 2, 2)], [(1, 8, 4, 4)], {0}, other=8 * 16, domain=BLOCKED),
    Row("Pad", [(2, 3), ((4,), "int64")], [(4, 5)], {0}, other=20 - 6, attributes={"mode": "edge"}, domain=MS),
    Row("UnfoldTensor", [(8,)], [(3, 4)], {0}, other=12, attributes={"size": 4, "step": 2}, domain=MS),
    Row("RemovePadding", [(2, 5, 4), ((2,), "int32")], [(7, 4), ((2, 5), "int32")], {0}, keeps=["out1"], domain=MS),
    Row("RestorePadding", [(7, 4), ((2, 5), "int32")], [(2, 5, 4)], {0}, keeps=["in1"], domain=MS),
    Row("TorchEmbedding", [(9, 4), ((5,), "int64")], [(5, 4)], {0}, other=5 * 4, keeps=["in1"], domain=MS),
    Row("GridSample", [(1, 2, 5, 5), (1, 3, 3, 2)], [(1, 2, 3, 3)], {0}, other=18 * 16 * 2, keeps=["in1"],
        attributes={"mode": "bicubic"}, domain=MS),  # 4 x 4 taps
    Row("CropAndResize", [(1, 2, 8, 8), (3, 4), ((3,), "int32"), ((2,), "int32")], [(3, 2, 2, 2)], {0},
        other=24 * 4 * 2, keeps=["in1", "in2"], domain=MS),
    # 2 lines of 8 real points: half of 5 * 8 * 3 each
    Row("Rfft", [(2, 8)], [(2, 5, 2)], {0}, other=2 * 60, attributes={"signal_ndim": 1}, domain=MS),
    Row("Irfft", [(2, 5, 2)], [(2, 8)], {0}, other=2 * 60, attributes={"signal_ndim": 1}, domain=MS),
    Row("Inverse", [(5, 3, 3)], [(5, 3, 3)], {0}, {0: 2 * 5 * 3 * 3 * 3}, other=45, keeps=["out0"], domain=MS),
    # 20 pairs of rows of 3: a factor; subtract, multiply and an add for each side
    Row("CDist", [(4, 3), (5, 3)], [(4, 5)], {0, 1}, other=20 * (1 + 3 * 4), keeps=["in0", "in1"], domain=MS),
    Row("CDist", [(4, 3), (5, 3)], [(4, 5)], {0}, other=20 * (1 + 3 * 3), special=20, keeps=["in0", "in1", "out0"],
        attributes={"metric": "euclidean"}, domain=MS),
    Row("MRotaryEmbedding", [(2, 4, 5, 8), ((3, 2, 5), "int64"), (5, 4), (5, 4)], [(2, 4, 5, 8)], {0}, other=3 * 320,
        keeps=["in1", "in2", "in3"], domain=MS),
    Row("GemmaRotaryEmbedding", [(2, 5, 8), (2, 4, 5, 8), (2, 4, 5, 8), (2, 2, 5, 8), (2, 2, 5, 8)],
        [(2, 4, 5, 8), (2, 2, 5, 8)], {1, 2, 3, 4}, other=2 * 320 + 2 * 160, beside=4 * 2 * 80, domain=MS),
]  # fmt: skip

PASTS = [(2, 4, 3, 8), (2, 4, 3, 8)]
GROUPED = [(2, 5, 32), (2, 5, 16), (2, 5, 16), (2, 2, 3, 8), (2, 2, 3, 8), ((2,), "int32"), ((), "int32")]
GROUPED_OUT = [(2, 5, 32), (2, 2, 8, 8), (2, 2, 8, 8)]
HEADS = {"num_heads": 4, "kv_num_heads": 2}

# 2 x 4 heads, 5 queries of 8 over 3 past keys and 5 new ones: 320 scores, products of 320 * 8
ATTENTION = [
    Row("MultiHeadAttention", [(2, 5, 32)] * 3 + [None] * 3 + PASTS, [(2, 5, 32)], {0, 1, 2},
        {0: 320 * 8, 1: 320 * 8, 2: 320 * 8}, inner=320 * 8, other=320 * 4 + 320,
        keeps=["in0", "in1", "in2", "in6", "in7"], beside=4 * 320, attributes={"num_heads": 4}, domain=MS),
    # a prefix that is trained: its keys and values are the only ones that want a gradient
    Row("MultiHeadAttention", [(2, 5, 32)] * 3 + [None] * 3 + PASTS, [(2, 5, 32)], {6, 7}, {1: 320 * 8, 2: 320 * 8},
        inner=320 * 8, other=320 * 4 + 320, keeps=["in0", "in1", "in2", "in6", "in7"], beside=4 * 320,
        attributes={"num_heads": 4}, domain=MS),
    Row("Attention", [(2, 5, 6), (6, 96), (96,), None, (2, 2, 4, 3, 8)], [(2, 5, 32)], {0, 1},
        {0: 60 * 96, 1: 60 * 96}, inner=4 * 320 * 8, other=320 * 4 + 320, keeps=["in0", "in1", "in4"],
        beside=4 * (960 + 320), attributes={"num_heads": 4}, domain=MS),
    # without a past 200 scores; Q and K of 10 tokens of 32 are turned back
    Row("Attention", [(2, 5, 6), (6, 96), (96,)], [(2, 5, 32)], {1}, {1: 60 * 96}, inner=4 * 200 * 8,
        other=200 * 4 + 320 + 3 * 2 * 10 * 32, keeps=["in0"], beside=4 * (960 + 200),
        attributes={"num_heads": 4, "do_rotary": 1}, domain=MS),
    # one more score for each of 40 softmaxes, whose gradients sum to 4; norms of 60 heads of 8: 7, 2 for their scales
    Row("GroupQueryAttention",
        [*GROUPED, None, None, None, None, (4,), None, None, (8,), (8,)], GROUPED_OUT, {0, 1, 2, 11, 14, 15},
        {0: 320 * 8, 1: 320 * 8, 2: 320 * 8}, inner=320 * 8,
        other=(320 + 40) * 4 + 320 + (40 - 4) + 480 * (7 + 2) + 60, special=60,
        keeps=["in0", "in1", "in2", "in3", "in4"], beside=4 * (320 + 40 + 480 + 60), attributes=HEADS, domain=MS),
    Row("GroupQueryAttention", [*GROUPED, None, None, None, None, (4,)], GROUPED_OUT, {11}, inner=320 * 8,
        other=(320 + 40) * 4 + 320 + (40 - 4), keeps=["in0", "in1", "in2", "in3", "in4"], beside=4 * (320 + 40),
        attributes=HEADS, domain=MS),
    Row("GroupQueryAttention", GROUPED, GROUPED_OUT, {2}, {2: 320 * 8},
        keeps=["in0", "in1", "in2", "in3", "in4"], beside=4 * (320 + 40), attributes={**HEADS, "smooth_softmax": 1},
        domain=MS),
]  # fmt: skip

MIXED = [(7, 6), (7, 4), (4, 5, 6), (4, 5), (4, 6, 5), (4, 6)]
GATED = [(7, 6), (7, 4), (4, 5, 6), None, (4, 6, 5), None, (4, 5, 6)]

# 7 tokens of 6 through 2 of 4 experts of 5: 14 rows, a layer is 14 * 6 * 5 = 420 MACs
EXPERTS = [
    # dy by the token's weight and dx to the token, 84 each; a Relu for 70; biases to 4 x 5 and 4 x 6; for the scores a
    # dot product of 6 for each row, and a softmax of 28. Kept: 28; rows of 6 before and after; 5 between; places
    Row("MoE", MIXED, [(7, 6)], {0, 1, 2, 3, 4, 5}, {0: 420, 2: 420, 4: 420}, inner=420,
        other=84 + 84 + 70 + (70 - 20) + (84 - 24) + 14 * 12 + 4 * 28, keeps=["in2", "in4"],
        beside=4 * (28 + 14 * (6 + 6 + 5)) + 8 * 14, attributes={"k": 2}, domain=MS),
    Row("MoE", MIXED, [(7, 6)], {1, 4}, {4: 420}, other=84 + 14 * (12 + 4) + 4 * 28, keeps=["in2", "in4"],
        beside=4 * (28 + 14 * (6 + 6 + 5)) + 8 * 14, attributes={"k": 2, "normalize_routing_weights": 1}, domain=MS),
    # silu again, 4, and a product; its slope, 8, and a product
    Row("MoE", GATED, [(7, 6)], {0, 2, 6}, {0: 2 * 420, 2: 420, 6: 420}, inner=420, other=84 + 84 + 70 * 14,
        special=70 * 4, keeps=["in2", "in4", "in6"], beside=4 * (28 + 14 * (6 + 6 + 3 * 5)) + 8 * 14,
        attributes={"k": 2, "activation_type": "silu"}, domain=MS),
    Row("MoE", [(7, 6), (7, 4), (4, 10, 6), None, (4, 6, 5)], [(7, 6)], {0, 2}, {0: 2 * 420, 2: 2 * 420}, inner=420,
        other=84 + 84 + 70 * 14, special=70 * 4, keeps=["in2", "in4"],
        beside=4 * (28 + 14 * (6 + 6 + 3 * 5)) + 8 * 14, attributes={"k": 2, "activation_type": "swiglu"}, domain=MS),
    # both layers of the 4 experts are decoded again: 4 * 60 weights of 3
    Row("QMoE", [(7, 6), (7, 4), ((4, 5, 3), "uint8"), (4, 5), None, ((4, 6, 3), "uint8"), (4, 6)], [(7, 6)], {0, 1},
        {0: 420}, inner=420, other=84 + 84 + 70 + 14 * 12 + 4 * 28 + 4 * 60 * 3, keeps=["in2", "in5"],
        beside=4 * (28 + 14 * (6 + 6 + 5)) + 8 * 14, attributes={"k": 2}, domain=MS),
]  # fmt: skip

CONTRIB = [*PRODUCTS, *ELEMENTWISE, *NORMALIZATION, *PLACES, *ATTENTION, *EXPERTS]

"""Backward rules against hand tables: products for each input, other arithmetic, and what must be kept."""

from __future__ import annotations

import operator

import pytest

from neural_cost.analyzer.node import BITS, Unknown
from neural_cost.analyzer.training.registry import backward, passes, registered, rule_of
from tests.analyzer.rules.make import node, tensor
from tests.analyzer.training.contrib_rows import CONTRIB
from tests.analyzer.training.rows import Row

S = (2, 3)  # 6 elements
UNARY = {  # FLOPs and transcendentals of each element, and what is kept
    "Relu": (1, 0, "out0"), "Sigmoid": (3, 0, "out0"), "Tanh": (3, 0, "out0"), "Exp": (1, 0, "out0"),
    "Sqrt": (2, 1, "out0"), "Reciprocal": (2, 0, "out0"), "Tan": (3, 0, "out0"), "Neg": (1, 0, None),
    "Abs": (2, 0, "in0"), "Log": (1, 1, "in0"), "Erf": (4, 1, "in0"), "Sin": (2, 1, "in0"), "Cos": (2, 1, "in0"),
    "Sinh": (2, 1, "in0"), "Cosh": (2, 1, "in0"), "Asin": (4, 2, "in0"), "Acos": (4, 2, "in0"),
    "Asinh": (4, 2, "in0"), "Acosh": (4, 2, "in0"), "Atan": (3, 1, "in0"), "Atanh": (3, 1, "in0"),
    "LeakyRelu": (2, 0, "in0"), "ThresholdedRelu": (1, 0, "in0"), "Shrink": (2, 0, "in0"), "Elu": (4, 1, "in0"),
    "Selu": (4, 1, "in0"), "Celu": (4, 1, "in0"), "HardSigmoid": (3, 0, "in0"), "HardSwish": (5, 0, "in0"),
    "Softplus": (4, 2, "in0"), "Softsign": (4, 1, "in0"), "Mish": (13, 5, "in0"), "Gelu": (11, 2, "in0"),
    "Swish": (8, 2, "in0"), "Softmax": (4, 0, "out0"), "LogSoftmax": (4, 1, "out0"),
}  # fmt: skip
LAID_OUT = ["Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Optional", "OptionalGetElement", "Transpose",
            "Concat", "Split", "Slice", "Trilu", "DepthToSpace", "SpaceToDepth", "ReverseSequence",
            "Col2Im", "SequenceConstruct", "SequenceInsert", "SequenceErase", "SequenceAt", "SplitToSequence",
            "ConcatFromSequence"]  # fmt: skip

ROWS = [
    Row("MatMul", [(7, 2, 3), (3, 5)], [(7, 2, 5)], {0, 1}, {0: 7 * 2 * 5 * 3, 1: 7 * 2 * 5 * 3},
        keeps=["in1", "in0"]),
    Row("MatMul", [(7, 2, 3), (3, 5)], [(7, 2, 5)], {1}, {1: 7 * 2 * 5 * 3}, keeps=["in0"]),
    Row("MatMul", [(7, 2, 3), (3, 5)], [(7, 2, 5)], {0}, {0: 7 * 2 * 5 * 3}, keeps=["in1"]),
    Row("Gemm", [(2, 3), (3, 5), (5,)], [(2, 5)], {1, 2}, {1: 2 * 5 * 3}, other=2 * 5 - 5, keeps=["in0"]),
    Row("Gemm", [(3, 2), (3, 5), (5,)], [(2, 5)], {0, 2}, {0: 2 * 5 * 3}, other=(2 * 5 - 5) + 5 + 2 * 5, keeps=["in1"],
        attributes={"transA": 1, "alpha": 0.5, "beta": 2.0}),  # the sum, beta on it; alpha on the gradient
    Row("Einsum", [(2, 3), (3, 5)], [(2, 5)], {0, 1}, {0: 30, 1: 30}, keeps=["in0", "in1"],
        attributes={"equation": "ij,jk->ik"}),
    Row("Einsum", [(2, 3), (3, 5)], [(2, 5)], {1}, {1: 30}, keeps=["in0"], attributes={"equation": "ij,jk->ik"}),
    # ij,jk->ik is 2*3*5, and (ik),kl->il 2*5*7; that of (ik) is needed for both operands of the first
    Row("Einsum", [(2, 3), (3, 5), (5, 7)], [(2, 7)], {0, 1, 2}, {0: 30, 1: 30, 2: 70}, inner=70,
        keeps=["in0", "in1", "in2"], attributes={"equation": "ij,jk,kl->il"}),
    Row("Einsum", [(2, 3), (3, 5), (5, 7)], [(2, 7)], {2}, {2: 70}, keeps=["in0", "in1"],
        attributes={"equation": "ij,jk,kl->il"}),
    Row("Conv", [(1, 4, 8, 8), (6, 2, 3, 3), (6,)], [(1, 6, 6, 6)], {0, 1, 2}, {0: 216 * 18, 1: 216 * 18},
        other=216 - 6, keeps=["in1", "in0"], attributes={"group": 2}),
    Row("ConvTranspose", [(1, 4, 3, 3), (4, 2, 2, 2)], [(1, 2, 6, 6)], {0, 1}, {0: 36 * 8, 1: 36 * 8},
        keeps=["in1", "in0"]),
    *(Row(op, [S], [S], {0}, other=6 * flops, special=6 * special, keeps=[kept] if kept else [])
      for op, (flops, special, kept) in UNARY.items()),
    Row("Gelu", [S], [S], {0}, other=6 * 16, special=6, keeps=["in0"], attributes={"approximate": "tanh"}),
    Row("Gelu", [S], [S], {0}, other=6 * 11, special=6 * 2, keeps=["in0"], domain="com.microsoft"),
    Row("FastGelu", [S], [S], {0}, other=6 * 16, special=6, keeps=["in0"], domain="com.microsoft"),
    Row("FastGelu", [S, (3,)], [S], {0, 1}, other=6 * 16 + (6 - 3), special=6, beside=4 * 6, domain="com.microsoft"),
    Row("FastGelu", [(S, "float16"), ((3,), "float16")], [(S, "float16")], {0, 1}, other=6 * 16 + (6 - 3), special=6,
        beside=2 * 6, domain="com.microsoft"),  # the sum is kept in its own type
    Row("QuickGelu", [S], [S], {0}, other=6 * 8, special=6 * 2, keeps=["in0"], attributes={"alpha": 1.0},
        domain="com.microsoft"),
    Row("QuickGelu", [S], [S], {0}, other=6 * 10, special=6 * 2, keeps=["in0"], domain="com.microsoft"),
    Row("Clip", [S, ()], [S], {0}, other=6, keeps=["in0"]),
    Row("Clip", [S, (), ()], [S], {0, 2}, other=2 * 6 + (6 - 1), keeps=["in0"]),
    Row("PRelu", [S, (3,)], [S], {0, 1}, other=6 * 2 + 6 * 2 + (6 - 3), keeps=["in0", "in1"]),
    Row("Add", [S, (3,)], [S], {0, 1}, other=6 - 3),
    Row("Sum", [S, S, (3,)], [S], {0, 1, 2}, other=6 - 3),
    Row("Sub", [S, (3,)], [S], {0, 1}, other=(6 - 3) + 6),
    Row("Mul", [S, (3,)], [S], {0, 1}, other=(6 - 3) + 2 * 6, keeps=["in1", "in0"]),
    Row("Mul", [S, (3,)], [S], {0}, other=6, keeps=["in1"]),
    Row("Div", [S, S], [S], {0}, other=6, special=6, keeps=["in1"]),
    Row("Div", [S, S], [S], {0, 1}, other=6 + 3 * 6, special=6 + 2 * 6, keeps=["in1", "in0"]),
    Row("Pow", [S, ()], [S], {0}, other=3 * 6, special=6, keeps=["in0", "in1"]),
    Row("Pow", [S, S], [S], {1}, other=3 * 6, special=6, keeps=["in0", "in1", "out0"]),
    Row("SwiGLU", [S, S], [S], {0, 1}, other=6 * (9 + 5), special=6 * 4, keeps=["in0", "in1"]),
    Row("Mod", [S, S], [S], {0}),
    Row("Max", [S, S], [S], {0, 1}, other=2 * 6, keeps=["in0", "in1"]),
    Row("Min", [S, ()], [S], {0}, other=6, keeps=["in0", "in1"]),
    Row("Mean", [S, S], [S], {0, 1}, other=6, special=6),
    Row("Where", [(S, "bool"), S, (3,)], [S], {1, 2}, other=6 - 3, keeps=["in0"]),
    Row("Cast", [S], [(S, "float16")], {0}, other=6),
    Row("CastLike", [S, S], [S], {0}),
    Row("Dropout", [S, ()], [S], {0}, other=2 * 6, beside=6),
    Row("Dropout", [S], [S], {0}, attributes={"ratio": 0.0}),
    *(Row(op, [S], [S], {0}) for op in LAID_OUT),
    Row("Trilu", [S], [S], {0}, domain="com.microsoft"),
    Row("ExpandDims", [S], [S], {0}, domain="com.microsoft"),
    Row("Expand", [(1, 3), (2,)], [(5, 3)], {0}, other=5 * 3 - 3),
    Row("Tile", [(2, 3), (2,)], [(4, 3)], {0}, other=12 - 6),
    Row("Pad", [(2, 3), (4,)], [(4, 5)], {0}),
    Row("Pad", [(2, 3), (4,)], [(4, 5)], {0}, other=20 - 6, attributes={"mode": "reflect"}),
    Row("Pad", [(2, 3), (4,), ()], [(4, 5)], {0, 2}, other=(20 - 6) - 1),  # the value sums what x does not get
    Row("CenterCropPad", [(2, 3), (2,)], [(1, 5)], {0}),
    Row("Resize", [(1, 1, 2, 2), None, None, (4,)], [(1, 1, 4, 4)], {0}, other=16),
    Row("Upsample", [(1, 1, 2, 2), (4,)], [(1, 1, 4, 4)], {0}, other=16),
    Row("Gather", [(9, 4), ((5,), "int64")], [(5, 4)], {0}, other=5 * 4, keeps=["in1"]),
    Row("GatherElements", [(9, 4), ((5, 4), "int64")], [(5, 4)], {0}, other=5 * 4, keeps=["in1"]),
    Row("GatherND", [(9, 4), ((5, 1), "int64")], [(5, 4)], {0}, other=5 * 4, keeps=["in1"]),
    Row("GatherND", [(9, 4), ((5, 1), "int64")], [(5, 4)], {0}, other=5 * 4, keeps=["in1"], domain="com.microsoft"),
    Row("Compress", [(9, 4), ((9,), "bool")], [(5, 4)], {0}, keeps=["in1"]),
    *(Row(op, [(9, 4), ((5, 4), "int64"), (5, 4)], [(9, 4)], {0, 2}, keeps=["in1"])
      for op in ("Scatter", "ScatterElements", "ScatterND")),
    Row("ScatterND", [(9, 4), ((5, 1), "int64"), (5, 4)], [(9, 4)], {0, 2}, other=2 * 20, keeps=["in1", "in0", "in2"],
        attributes={"reduction": "mul"}),
    Row("TensorScatter", [(1, 8, 4), (1, 2, 4), ((1,), "int64")], [(1, 8, 4)], {1}, keeps=["in2"]),
    Row("TopK", [(2, 9), ((1,), "int64")], [(2, 4), ((2, 4), "int64")], {0}, keeps=["out1"]),
    Row("Unique", [(9,)], [(5,)], {0}, beside=8 * 5),
    Row("Unique", [(9, 4)], [(5, 4), ((5,), "int64")], {0}, keeps=["out1"], attributes={"axis": 0}),
    Row("Unique", [(9, 4)], [(5, 4)], {0}, beside=8 * 5, attributes={"axis": 0}, domain="com.microsoft"),
    Row("CumSum", [S, ((), "int64")], [S], {0}, other=6),
    Row("GridSample", [(1, 2, 5, 5), (1, 3, 3, 2)], [(1, 2, 3, 3)], {0}, other=18 * 4 * 2, keeps=["in1"]),
    Row("GridSample", [(1, 2, 5, 5), (1, 3, 3, 2)], [(1, 2, 3, 3)], {0, 1}, other=18 * 4 * 2 * 3, keeps=["in1", "in0"]),
    Row("MaxPool", [(1, 2, 4, 4)], [(1, 2, 2, 2)], {0}, other=8, beside=8 * 8, attributes={"kernel_shape": [2, 2]}),
    Row("MaxPool", [(1, 2, 4, 4)], [(1, 2, 2, 2), ((1, 2, 2, 2), "int64")], {0}, other=8, keeps=["out1"],
        attributes={"kernel_shape": [2, 2]}),
    Row("MaxRoiPool", [(1, 2, 8, 8), (3, 5)], [(3, 2, 2, 2)], {0}, other=24, beside=8 * 24,
        attributes={"pooled_shape": [2, 2]}),
    Row("GlobalMaxPool", [(1, 2, 4, 4)], [(1, 2, 1, 1)], {0}, other=2, beside=2 * 8),
    Row("AveragePool", [(1, 2, 4, 4)], [(1, 2, 2, 2)], {0}, other=8 * (1 + 4), special=8,
        attributes={"kernel_shape": [2, 2]}),
    Row("GlobalAveragePool", [(1, 2, 4, 4)], [(1, 2, 1, 1)], {0}, other=2, special=2),
    Row("LpPool", [(1, 2, 4, 4)], [(1, 2, 2, 2)], {0}, other=8 * (1 + 8), special=8, keeps=["in0", "out0"],
        attributes={"kernel_shape": [2, 2]}),
    Row("GlobalLpPool", [(1, 2, 4, 4)], [(1, 2, 1, 1)], {0}, other=2 * (1 + 32), special=2, keeps=["in0", "out0"]),
    Row("ReduceSum", [(4, 3)], [(4, 1)], {0}),
    Row("ReduceMean", [(4, 3)], [(4, 1)], {0}, other=4, special=4),
    *(Row(op, [(4, 3)], [(4, 1)], {0}, other=12, keeps=["in0", "out0"]) for op in ("ReduceMax", "ReduceMin")),
    Row("ReduceProd", [(4, 3)], [(4, 1)], {0}, other=4 + 12, special=12, keeps=["in0", "out0"]),
    Row("ReduceL1", [(4, 3)], [(4, 1)], {0}, other=2 * 12, keeps=["in0"]),
    Row("ReduceL2", [(4, 3)], [(4, 1)], {0}, other=4 + 12, special=4, keeps=["in0", "out0"]),
    Row("ReduceSumSquare", [(4, 3)], [(4, 1)], {0}, other=4 + 12, keeps=["in0"]),
    Row("ReduceLogSum", [(4, 3)], [(4, 1)], {0}, other=2 * 4, special=4, keeps=["out0"]),
    Row("ReduceLogSumExp", [(4, 3)], [(4, 1)], {0}, other=3 * 12, special=12, keeps=["in0", "out0"]),
    # 9 and the scale for x, 2 for the scale, 1 for the bias; 2 divisions for each of the 4 rows; 2 statistics
    Row("LayerNormalization", [(4, 3), (3,), (3,)], [(4, 3)], {0, 1, 2}, other=12 * (10 + 2 + 1) + 2 * 4, special=2 * 4,
        keeps=["in0"], beside=4 * 2 * 4),
    Row("LayerNormalization", [(4, 3), (3,), (3,)], [(4, 3)], {1, 2}, other=12 * (2 + 2 + 1), keeps=["in0"],
        beside=4 * 2 * 4),
    Row("LayerNormalization", [(4, 3), (3,), (3,)], [(4, 3)], {2}, other=12),
    Row("InstanceNormalization", [(2, 3, 5), (3,), (3,)], [(2, 3, 5)], {0}, other=30 * 10 + 2 * 6, special=2 * 6,
        keeps=["in0"], beside=4 * 2 * 6),
    Row("GroupNormalization", [(2, 4, 5), (4,), (4,)], [(2, 4, 5)], {0}, other=40 * 10 + 2 * 4, special=2 * 4,
        keeps=["in0"], beside=4 * 2 * 4, attributes={"num_groups": 2}),
    Row("MeanVarianceNormalization", [(2, 3, 4, 4)], [(2, 3, 4, 4)], {0}, other=96 * 9 + 2 * 3, special=2 * 3,
        keeps=["in0"], beside=4 * 2 * 3),
    Row("BatchNormalization", [(2, 3, 5), (3,), (3,), (3,), (3,)], [(2, 3, 5)], {0, 1, 2}, other=30 * 13 + 2 * 3,
        special=2 * 3, keeps=["in0"], beside=4 * 2 * 3),
    *(Row(op, [(4, 3), (3,)], [(4, 3)], {0, 1}, other=12 * (7 + 2) + 4, special=4, keeps=["in0"], beside=4 * 4)
      for op in ("RMSNormalization", "SimplifiedLayerNormalization")),
    Row("LpNormalization", [(4, 3)], [(4, 3)], {0}, other=5 * 12, special=12, keeps=["out0"], beside=4 * 4),
    Row("LRN", [(1, 4, 2, 2)], [(1, 4, 2, 2)], {0}, other=16 * (7 + 3), special=2 * 16, keeps=["in0", "out0"],
        beside=4 * 16, attributes={"size": 3}),
    Row("SoftmaxCrossEntropyLoss", [(5, 9), ((5,), "int64")], [()], {0}, other=3 * 45, special=45, keeps=["in1"],
        beside=4 * 45),
    Row("SoftmaxCrossEntropyLoss", [(5, 9), ((5,), "int64")], [(), (5, 9)], {0}, other=3 * 45, special=45,
        keeps=["in1", "out1"]),
    Row("NegativeLogLikelihoodLoss", [(5, 9), ((5,), "int64")], [()], {0}, other=5, keeps=["in1"]),
    # 2 x 4 heads, 5 queries and 7 keys of 8: 280 scores; products with Q and K, with V, and P' dY, of 280 * 8 each
    Row("Attention", [(2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 8)], [(2, 4, 5, 8)], {0, 1, 2},
        {0: 280 * 8, 1: 280 * 8, 2: 280 * 8}, inner=280 * 8, other=280 * 4 + 320 + 448, keeps=["in0", "in1", "in2"],
        beside=4 * 280),
    Row("Attention", [(2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 8)], [(2, 4, 5, 8)], {2}, {2: 280 * 8},
        keeps=["in0", "in1", "in2"], beside=4 * 280),
    # batch 2, 5 tokens, 2 heads of keys of 3 and of values of 4: states of 2 * 5 * 2 * 3 * 4 = 240 in all, 80 values
    Row("LinearAttention", [(2, 5, 6), (2, 5, 6), (2, 5, 8)], [(2, 5, 8)], {0, 1, 2}, {0: 240, 1: 240, 2: 240},
        inner=240, other=80, keeps=["in0", "in1", "in2"], beside=4 * 240,
        attributes={"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}),
    # what is retrieved: two products more, and du from it; a decay for each of 20 heads and tokens; beta as many
    Row("LinearAttention", [(2, 5, 6), (2, 5, 6), (2, 5, 8), None, (2, 5, 2), (2, 5, 2)], [(2, 5, 8)],
        {0, 1, 2, 4, 5}, {0: 240, 1: 2 * 240}, inner=240 + 2 * 240,
        other=80 + 240 + (2 * 240 + 20) + 2 * 80 + 2 * 80, keeps=["in0", "in1", "in2", "in4", "in5"], beside=4 * 240,
        attributes={"q_num_heads": 2, "kv_num_heads": 2}),
    Row("LinearAttention", [(2, 5, 6), (2, 5, 6), (2, 5, 8), None, (2, 5, 2)], [(2, 5, 8)], {2}, {2: 240},
        inner=240, other=80 + 240, keeps=["in0", "in1", "in2", "in4"], beside=4 * 240,
        attributes={"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "gated"}, domain="com.microsoft"),
    Row("RotaryEmbedding", [(2, 4, 5, 8), (5, 4), (5, 4)], [(2, 4, 5, 8)], {0}, other=3 * 320, keeps=["in1", "in2"]),
    Row("RotaryEmbedding", [(2, 4, 5, 8), ((2, 5), "int64"), (5, 4), (5, 4)], [(2, 4, 5, 8)], {0}, other=3 * 320,
        keeps=["in1", "in2", "in3"], domain="com.microsoft"),
    # 2 lines of 8 complex points: 5 * 8 * 3 each
    Row("DFT", [(2, 8, 2), None, tensor("axis", (), "int64", 1)], [(2, 8, 2)], {0}, other=2 * 120),
    # 3 frames of 4 real points: a product with the window, and half of 5 * 4 * 2; twice the points for the window
    Row("STFT", [(1, 8), ((), "int64"), (4,)], [(1, 3, 3, 2)], {0}, other=3 * (4 + 20), keeps=["in2"]),
    Row("STFT", [(1, 8), ((), "int64"), (4,)], [(1, 3, 3, 2)], {0, 2}, other=3 * (4 + 20) + 2 * 3 * 4,
        keeps=["in2", "in0"]),
    Row("AffineGrid", [(2, 2, 3), ((4,), "int64")], [(2, 5, 5, 2)], {0}, {0: 2 * 25 * 2 * 3}),
    Row("MaxUnpool", [(1, 2, 2, 2), ((1, 2, 2, 2), "int64")], [(1, 2, 4, 4)], {0}, keeps=["in1"]),
    # 2 regions of 1 channel, 2 x 2 places of one sample: 8 outputs of 4 taps and a division; 8 points of 14
    Row("RoiAlign", [(1, 1, 8, 8), (2, 4), ((2,), "int64")], [(2, 1, 2, 2)], {0}, other=8 * 8 + 8 + 8 * 14, special=8,
        keeps=["in1", "in2"], attributes={"sampling_ratio": 1}),
    # 9 x 2 places in x of 2 channels: points of 4 * 2 + 4 * 1, samples of 7 for each channel; 3 x 3 outputs of 1 filter
    Row("DeformConv", [(1, 2, 4, 4), (1, 2, 2, 2), (1, 8, 3, 3)], [(1, 1, 3, 3)], {0, 1, 2}, {1: 9 * 8}, inner=9 * 8,
        other=3 * (9 * 4 * (12 + 2 * 7)), keeps=["in0", "in2"]),
    Row("Det", [(5, 3, 3)], [(5,)], {0}, other=5 * (9 + 2 * 9 * 2 + 9 + 1), special=5 * 9, keeps=["in0", "out0"]),
    Row("CumProd", [S, ((), "int64")], [S], {0}, other=3 * 6, special=6, keeps=["in0", "out0"]),
    Row("CausalConvWithState", [(1, 4, 5), (4, 1, 3), (4,)], [(1, 4, 5)], {0, 1, 2}, {0: 20 * 3, 1: 20 * 3},
        other=(20 - 4) + 8 * 20, special=2 * 20, keeps=["in1", "in0"], beside=4 * 20,
        attributes={"activation": "silu"}),
    Row("FusedMatMul", [(3, 2), (3, 5)], [(2, 5)], {0, 1}, {0: 30, 1: 30}, other=10, keeps=["in1", "in0"],
        attributes={"transA": 1, "alpha": 0.5}, domain="com.microsoft"),
    Row("TransposeMatMul", [(2, 3), (3, 5)], [(2, 5)], {0}, {0: 30}, keeps=["in1"], domain="com.microsoft"),
    Row("BiasGelu", [S, (3,)], [S], {0, 1}, other=6 * 11 + (6 - 3), special=6 * 2, beside=4 * 6,
        domain="com.microsoft"),
    # x, skip and a bias of 3: 10 for the sum, 2 for the scale, 1 for the shift; 4 rows of 2 divisions
    Row("SkipLayerNormalization", [(4, 3), (4, 3), (3,), (3,), (3,)], [(4, 3)], {0, 1, 2, 3, 4},
        other=12 * (10 + 2 + 1) + (12 - 3) + 2 * 4, special=2 * 4, beside=4 * (2 * 4 + 12), domain="com.microsoft"),
    Row("SkipSimplifiedLayerNormalization", [(4, 3), (4, 3), (3,)], [(4, 3), None, None, (4, 3)], {0, 2},
        other=12 * (7 + 2) + 4, special=4, keeps=["out3"], beside=4 * 4, domain="com.microsoft"),
    # 2 x 4 heads, 5 queries and 7 keys of 8, as above
    Row("MultiHeadAttention", [(2, 5, 32), (2, 7, 32), (2, 7, 32)], [(2, 5, 32)], {0, 1, 2},
        {0: 280 * 8, 1: 280 * 8, 2: 280 * 8}, inner=280 * 8, other=280 * 4 + 320, keeps=["in0", "in1", "in2"],
        beside=4 * 280, attributes={"num_heads": 4}, domain="com.microsoft"),
    Row("MultiHeadAttention", [(2, 5, 32), (2, 7, 32), (2, 7, 32), (96,)], [(2, 5, 32)], {0, 1, 2, 3},
        {0: 280 * 8, 1: 280 * 8, 2: 280 * 8}, inner=280 * 8, other=280 * 4 + 320 + (320 + 448 + 448 - 96),
        keeps=["in0", "in1", "in2"], beside=4 * 280, attributes={"num_heads": 4}, domain="com.microsoft"),
    # K and V of four dimensions; Q, K and V in one tensor; K and V in one: what holds several has their sum
    Row("MultiHeadAttention", [(2, 5, 32), (2, 4, 7, 8), (2, 4, 7, 8)], [(2, 5, 32)], {0, 1},
        {0: 280 * 8, 1: 280 * 8}, inner=280 * 8, other=280 * 4 + 320, keeps=["in0", "in1", "in2"],
        beside=4 * 280, attributes={"num_heads": 4}, domain="com.microsoft"),
    Row("MultiHeadAttention", [(2, 5, 4, 3, 8)], [(2, 5, 32)], {0}, {0: 3 * 200 * 8}, inner=200 * 8,
        other=200 * 4 + 320, keeps=["in0"], beside=4 * 200, attributes={"num_heads": 4}, domain="com.microsoft"),
    Row("MultiHeadAttention", [(2, 5, 32), (2, 7, 4, 2, 8)], [(2, 5, 32)], {0, 1}, {0: 280 * 8, 1: 2 * 280 * 8},
        inner=280 * 8, other=280 * 4 + 320, keeps=["in0", "in1"], beside=4 * 280, attributes={"num_heads": 4},
        domain="com.microsoft"),
    # 4 heads of queries and 2 of keys, 5 tokens: 200 scores; all of 6 heads and 10 tokens turned back, 8 wide
    Row("GroupQueryAttention", [(2, 5, 32), (2, 5, 16), (2, 5, 16), None, None, ((2,), "int32"), ((), "int32"),
        (9, 4), (9, 4)], [(2, 5, 32)], {0, 1, 2}, {0: 200 * 8, 1: 200 * 8, 2: 200 * 8}, inner=200 * 8,
        other=200 * 4 + 320 + 3 * 10 * 6 * 8, keeps=["in0", "in1", "in2"], beside=4 * 200,
        attributes={"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}, domain="com.microsoft"),
    # 10 tokens of 6 to 3 x 32; 200 scores of heads of 8
    Row("Attention", [(2, 5, 6), (6, 96), (96,)], [(2, 5, 32)], {0, 1, 2}, {0: 60 * 96, 1: 60 * 96},
        inner=4 * 200 * 8, other=200 * 4 + 320 + (960 - 96), keeps=["in0", "in1"], beside=4 * (960 + 200),
        attributes={"num_heads": 4}, domain="com.microsoft"),
    Row("PackedAttention", [(7, 6), (6, 96), (96,), ((2, 5), "int32")], [(7, 32)], {1}, {1: 42 * 96},
        inner=4 * 200 * 8, other=200 * 4 + 320, keeps=["in0"], beside=4 * (7 * 96 + 200),
        attributes={"num_heads": 4}, domain="com.microsoft"),
    Row("PackedMultiHeadAttention", [(7, 32), (7, 32), (7, 32), None, ((2, 5), "int32")], [(7, 32)], {0, 1, 2},
        {0: 200 * 8, 1: 200 * 8, 2: 200 * 8}, inner=200 * 8, other=200 * 4 + 320, keeps=["in0", "in1", "in2"],
        beside=4 * 200, attributes={"num_heads": 4}, domain="com.microsoft"),
    # 5 steps, batch 2, 3 features, 4 units: 40 units; the state passes back from 4 of the 5 steps
    Row("LSTM", [(5, 2, 3), (1, 16, 3), (1, 16, 4), (1, 32)], [(5, 1, 2, 4)], {0, 1, 2, 3},
        {0: 40 * 4 * 3, 1: 40 * 4 * 3, 2: 40 * 4 * 4}, inner=32 * 4 * 4, other=40 * (23 + 4), keeps=["in0", "out0"],
        beside=4 * 6 * 40),
    Row("LSTM", [(5, 2, 3), (1, 16, 3), (1, 16, 4), None, None, (1, 2, 4), (1, 2, 4), (1, 12)], [(5, 1, 2, 4)],
        {1, 2, 5}, {1: 40 * 4 * 3, 2: 40 * 4 * 4, 5: 8 * 4 * 4}, inner=32 * 4 * 4, other=40 * 23 + 6 * 40,
        keeps=["in0", "out0", "in5", "in6"], beside=4 * 6 * 40),
    Row("GRU", [(5, 2, 3), (2, 12, 3), (2, 12, 4)], [(5, 2, 2, 4)], {1, 2}, {1: 80 * 3 * 3, 2: 80 * 3 * 4},
        inner=64 * 3 * 4, other=80 * 18, keeps=["in0", "out0"], beside=4 * 4 * 80,
        attributes={"direction": "bidirectional"}),
    # a Relu's slope is a comparison of what it gives; a LeakyRelu's 2, of what it is given, which is kept beside
    Row("RNN", [(5, 2, 3), (1, 4, 3), (1, 4, 4)], [(5, 1, 2, 4)], {1, 2}, {1: 40 * 3, 2: 40 * 4}, inner=32 * 4,
        other=40 * (1 + 1), keeps=["in0", "out0"], attributes={"activations": ["Relu"]}),
    Row("GRU", [(5, 2, 3), (2, 12, 3), (2, 12, 4)], [(5, 2, 2, 4)], {1, 2}, {1: 80 * 3 * 3, 2: 80 * 3 * 4},
        inner=64 * 3 * 4, other=80 * (9 + 2 * 3) + 40 * (2 + 3), keeps=["in0", "out0"], beside=4 * (4 * 80 + 40),
        attributes={"direction": "bidirectional", "activations": ["Sigmoid", "LeakyRelu", "Sigmoid", "Tanh"]}),
    # 5 functions of each unit are clipped: 2 comparisons each of what they are given, which is kept beside
    Row("LSTM", [(5, 2, 3), (1, 16, 3), (1, 16, 4)], [(5, 1, 2, 4)], {1, 2}, {1: 40 * 4 * 3, 2: 40 * 4 * 4},
        inner=32 * 4 * 4, other=40 * (23 + 5 * 2), keeps=["in0", "out0"], beside=4 * (6 + 5) * 40,
        attributes={"clip": 3.0}),
    Row("RNN", [(5, 2, 3), (1, 4, 3), (1, 4, 4)], [None, (1, 2, 4)], {1, 2}, {1: 40 * 3, 2: 40 * 4}, inner=32 * 4,
        other=40 * 4, keeps=["in0"], beside=4 * 40),
]  # fmt: skip


@pytest.mark.parametrize("row", [*ROWS, *CONTRIB], ids=lambda row: row.op)
def test_cost(row):
    made = node(row.op, row.inputs, row.outputs, row.domain, **row.attributes)
    rule = rule_of(row.domain, row.op)
    assert rule is not None
    found = rule(made, frozenset(row.wants))
    assert dict(found.macs) == dict(row.macs)
    assert (found.inner_macs, found.other_flops, found.special_ops) == (row.inner, row.other, row.special)
    assert [tensor.name for tensor in found.saves if tensor is not None] == list(row.keeps)
    assert sum(kept.elements * BITS[kept.dtype] // 8 for kept in found.kept) == row.beside


def test_every_rule_has_a_row():
    assert {key for key, rule in registered().items() if rule} - {
        (row.domain, row.op) for row in [*ROWS, *CONTRIB]
    } == set()


@pytest.mark.parametrize(
    "attributes", [{"activations": ["NoSuch"]}, {"activations": ["Tanh"], "direction": "bidirectional"}]
)
def test_functions_that_have_no_slope_are_unknown(attributes):
    made = node("RNN", [(5, 2, 3), (1, 4, 3), (1, 4, 4)], [(5, 1, 2, 4)], **attributes)
    with pytest.raises(Unknown, match=r"NoSuch|needs 2"):
        rule_of("", "RNN")(made, frozenset({1}))


def test_one_gate_for_input_and_forget_is_unknown():
    made = node("LSTM", [(5, 2, 3), (1, 16, 3), (1, 16, 4)], [(5, 1, 2, 4)], input_forget=1)
    with pytest.raises(Unknown, match=r"forget"):
        rule_of("", "LSTM")(made, frozenset({1}))


@pytest.mark.parametrize(("rule", "products"), [("linear", 4), ("gated", 4), ("delta", 6), ("gated_delta", 6)])
def test_linear_attention_is_twice_forward_when_all_is_wanted(rule, products):
    """Each product of a step gives two back: 2 forward without what is retrieved, 3 with it."""
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    tokens, keys, values = 5, 3, 4
    q, k = (torch.rand(tokens, 1, keys, requires_grad=True) for _ in range(2))
    v = torch.rand(tokens, 1, values, requires_grad=True)
    decay = torch.rand(tokens, 1, keys, requires_grad=True)
    state, out = torch.zeros(keys, values, requires_grad=True), []
    with FlopCounterMode(display=False) as forward:
        for step in range(tokens):
            before = state * decay[step].T if "gated" in rule else state
            added = v[step] - k[step] @ before if "delta" in rule else v[step]
            state = before + k[step].T @ added
            out.append(q[step] @ state)
    with FlopCounterMode(display=False) as back:
        torch.cat(out).sum().backward()
    assert back.get_total_flops() == 2 * forward.get_total_flops() == 2 * products * tokens * keys * values
    inputs = [(1, tokens, keys), (1, tokens, keys), (1, tokens, values), None, (1, tokens, keys), (1, tokens, 1)]
    made = node("LinearAttention", inputs[: 6 if "delta" in rule else 5], [(1, tokens, values)],
                q_num_heads=1, kv_num_heads=1, update_rule=rule)  # fmt: skip
    found = rule_of("", "LinearAttention")(made, frozenset({0, 1, 2}))
    assert 2 * (sum(found.macs.values()) + found.inner_macs) == back.get_total_flops()


X, PACKED = (2, 64), ((5, 2, 16), "uint8")
GROUPED = [(2, 1, 32), (2, 1, 16), (2, 1, 16), (2, 2, 8, 8), (2, 2, 8, 8), ((2,), "int32"), ((), "int32")]
IN_PLACE = [(2, 1, 32), (2, 2, 8, 8), (2, 2, 8, 8)]
HEADS = {"num_heads": 4, "kv_num_heads": 2}
NORMS = [None] * 7 + [(8,), (8,)]


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "wants", "attributes", "why"),
    [
        ("MatMulNBits", [X, PACKED, (10,)], [(2, 5)], {0, 2}, {"K": 64, "N": 5}, "scales"),
        ("MatMulBlockQuantizedFp8Weight", [X, ((5, 64), "float8e4m3fn"), (5,), ()], [(2, 5)], {0}, {}, "rounded"),
        ("GroupQueryAttention", GROUPED, IN_PLACE, {0}, HEADS, "shares its buffer"),
        ("GroupQueryAttention", GROUPED[:3], IN_PLACE, {0}, {**HEADS, "k_quant_type": "PER_TENSOR"}, "quantized"),
        ("GroupQueryAttention", [*GROUPED[:3], None, None, *GROUPED[5:], *NORMS], IN_PLACE, {14}, HEADS, "both norms"),
        ("Attention", [(2, 5, 6), (6, 96), None, None, (2, 2, 4, 3, 8)], [(2, 5, 32)], {4}, {"num_heads": 4}, "cache"),
        ("MoE", [(7, 6), (7, 4), (4, 10, 6), None, (4, 6, 5)], [(7, 6)], {0},
         {"activation_type": "swiglu", "swiglu_limit": 7.0}, "limit"),
        ("QMoE", [(7, 6), (7, 4)] + [None] * 12 + [(7, 2)], [(7, 6)], {0}, {}, "softmax"),
        ("CDist", [(4, 3), (5, 3)], [(4, 5)], {0}, {"metric": "cityblock"}, "cityblock"),
        ("CropAndResize", [(1, 2, 8, 8), (3, 4)], [(3, 2, 2, 2)], {1}, {}, "regions"),
        ("FusedConv", [(1, 4, 8, 8), (6, 4, 3, 3)], [(1, 6, 6, 6)], {0}, {"activation": "NoSuch"}, "NoSuch"),
        ("GemmaRotaryEmbedding", [S] * 5, [S, S], {0}, {}, "angles"),
    ],
)  # fmt: skip
def test_what_has_no_formula_is_unknown(op, inputs, outputs, wants, attributes, why):
    made = node(op, inputs, outputs, "com.microsoft", **attributes)
    with pytest.raises(Unknown, match=why):
        rule_of("com.microsoft", op)(made, frozenset(wants))


def test_a_second_rule_is_refused():
    with pytest.raises(ValueError, match="already"):
        backward("MatMul")(lambda node, wants: None)


def test_what_has_no_rule_may_pass_a_gradient():
    assert passes("", "NoSuchOperator")
    assert rule_of("", "NoSuchOperator") is None
    assert not passes("", "Floor")


# Functions of torch that compute what an operator does; those that torch makes of several are left out.
TORCH = {
    "Relu": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Exp": "exp", "Sqrt": "sqrt", "Reciprocal": "reciprocal",
    "Tan": "tan", "Neg": "neg", "Abs": "abs", "Log": "log", "Erf": "erf", "Sin": "sin", "Cos": "cos", "Sinh": "sinh",
    "Cosh": "cosh", "Asin": "asin", "Acos": "acos", "Asinh": "asinh", "Acosh": "acosh", "Atan": "atan",
    "Atanh": "atanh",
    "LeakyRelu": "nn.functional.leaky_relu", "ThresholdedRelu": "nn.functional.threshold", "Elu": "nn.functional.elu",
    "Selu": "nn.functional.selu", "Celu": "nn.functional.celu", "HardSigmoid": "nn.functional.hardsigmoid",
    "HardSwish": "nn.functional.hardswish", "Softplus": "nn.functional.softplus", "Mish": "nn.functional.mish",
    "Gelu": "nn.functional.gelu", "Swish": "nn.functional.silu", "Softmax": "softmax", "LogSoftmax": "log_softmax",
    "Shrink": "nn.functional.hardshrink",
}  # fmt: skip
MORE = {"ThresholdedRelu": (0.5, 0.0), "Softmax": (-1,), "LogSoftmax": (-1,)}


@pytest.mark.parametrize("op", TORCH)
def test_functions_keep_what_torch_keeps(op):
    torch = pytest.importorskip("torch")
    x = torch.full(S, 0.7, requires_grad=True)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor.data_ptr()), lambda _: None):
        y = operator.attrgetter(TORCH[op])(torch)(x, *MORE.get(op, ()))
    places = {x.data_ptr(): "in0", y.data_ptr(): "out0"}
    assert {places.get(each, "other") for each in kept} == {UNARY[op][2]} - {None}

"""Which inputs of an operator hold parameters where types and ranks do not tell.

A constant of floats is a weight, and so is a matrix of integers of 8 bits and fewer: `OTHER` says where it is not,
`INTEGERS` where other integers are weights too.
"""

from __future__ import annotations

PAIR = {1, 2, 3, 4}  # scale and zero point of input and output
BINARY = {1, 2, 4, 5, 6, 7}  # scale and zero point of both operands and of the output

# Running statistics, initial states of recurrent layers (zeros, where an exporter fixed the batch), exponents, limits,
# scales, zero points, and tables of angles.
OTHER: dict[str, set[int]] = {
    "BatchNormalization": {3, 4}, "RNN": {5}, "GRU": {5}, "LSTM": {5, 6},
    "Pow": {1}, "Clip": {1, 2}, "Pad": {2}, "Resize": {1, 2},
    "Range": {0, 1, 2}, "OneHot": {1, 2}, "RotaryEmbedding": {1, 2, 3}, "MRotaryEmbedding": {2, 3},
    "RMSNormRotary": {3, 4}, "GroupQueryAttention": {7, 8, 12, 13}, "PagedAttention": {8, 9, 14, 15},
    "SparseAttention": {9, 10}, "SparsePagedAttention": {14, 15, 19, 20}, "SparseAttentionIndexer": {4, 5},
    "PackedSparseAttentionIndexer": {4, 5}, "DynamicSparseAttention": {11, 12, 18, 19},
    "QuantizeLinear": {1, 2}, "DequantizeLinear": {1, 2}, "QuantizeWithOrder": {1}, "DequantizeWithOrder": {1},
    "QLinearConv": BINARY, "QLinearMatMul": BINARY, "QLinearAdd": BINARY, "QLinearMul": BINARY,
    "QLinearConvTranspose": BINARY, "QLinearWhere": {2, 3, 5, 6, 7, 8},
    "QLinearConcat": {position for position in range(300) if position % 3 != 2},
    "QLinearSigmoid": PAIR, "QLinearLeakyRelu": PAIR, "QLinearSoftmax": PAIR, "QLinearReduceMean": PAIR,
    "QLinearAveragePool": PAIR, "QLinearGlobalAveragePool": PAIR,
    "MatMulInteger": {2, 3}, "ConvInteger": {2, 3}, "MulInteger": {1, 3}, "MatMulIntegerToFloat": {2, 3, 4, 5},
    "QGemm": {1, 2, 4, 5, 7, 8}, "QAttention": {3, 4, 6, 7}, "QMoE": {3, 6, 9, 11, 12, 13, 15, 16, 17, 18, 19, 20},
    "QEmbedLayerNormalization": set(range(8, 18)), "DynamicQuantizeLSTM": {5, 6, 8, 9, 10, 11},
    "DynamicQuantizeMatMul": {2, 3}, "MatMulNBits": {2, 3, 4}, "MatMulNBitsQLoRA": {2, 4, 6},
    "MatMulNBitsMlp": {4, 7}, "MatMulNBitsQkv": {4, 7, 10}, "MatMulBnb4": {2}, "MatMulPacked": {2},
    "MatMulBlockQuantizedFp8Weight": {2, 3}, "MatMulBlockQuantizedFp4Weight": {2, 3, 4},
    "GatherBlockQuantized": {2, 3}, "GemmFloat8": {3, 4, 5},
    "QOrderedMatMul": {1, 3, 4, 7}, "QOrderedGelu": {1, 2}, "QOrderedLayerNormalization": {1, 4},
    "QOrderedAttention": {1, 2, 3, 4, 8, 9, 10, 14, 15, 16}, "QOrderedLongformerAttention": {1, 3, 5, 6, 9, 11, 13},
}  # fmt: skip

# Biases of quantized products, in the accumulator's 32 bits, and quantized vectors.
INTEGERS: dict[str, set[int]] = {
    "QLinearConv": {8}, "QGemm": {6}, "QLinearAdd": {0, 3}, "QLinearMul": {0, 3}, "QLinearWhere": {1, 4},
    "QEmbedLayerNormalization": {5, 6},
}  # fmt: skip

# One element of a constant scales, shifts or fills.
SCALARS = {
    "Add", "Sub", "Mul", "Div", "Where", "Max", "Min", "Equal", "Less", "Greater", "QLinearAdd", "QLinearMul", "Expand",
}  # fmt: skip

# Weights of com.microsoft that several share a byte of: the attribute that says how wide one is, 4 bits by default.
PACKED: dict[tuple[str, int], str] = {
    ("GatherBlockQuantized", 0): "bits", ("MatMulNBitsQLoRA", 1): "bits",
    ("MatMulNBitsMlp", 3): "bits", ("MatMulNBitsMlp", 6): "bits",
    ("MatMulNBitsQkv", 3): "bits", ("MatMulNBitsQkv", 6): "bits", ("MatMulNBitsQkv", 9): "bits",
    ("QMoE", 2): "expert_weight_bits", ("QMoE", 5): "expert_weight_bits", ("QMoE", 8): "expert_weight_bits",
}  # fmt: skip

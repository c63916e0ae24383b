"""Quantization rounds, which has no derivative: training gives it one, most often by passing the gradient straight on.

Which, a graph does not tell; so these are listed as uncounted where a gradient would have to pass, and what lies before
them is counted as if one did. `neural_cost.register_backward` gives a rule to them.
"""

from __future__ import annotations

from neural_cost.analyzer.training.registry import no_derivative

ROUNDS = "it rounds, which has no derivative; whether training passes the gradient straight on, the graph does not tell"

no_derivative("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", why=ROUNDS)
no_derivative("QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger", why=ROUNDS)
no_derivative(
    "QuantizeLinear", "DequantizeLinear", "QuantizeBFP", "DequantizeBFP", "QuantizeWithOrder", "DequantizeWithOrder",
    "DynamicQuantizeLSTM", "DynamicQuantizeMatMul", "MatMulInteger16", "MatMulIntegerToFloat", "MulInteger",
    "QAttention", "QEmbedLayerNormalization", "QGemm", "QLinearAdd", "QLinearAveragePool", "QLinearConcat",
    "QLinearConv",
    "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMul", "QLinearReduceMean", "QLinearSigmoid",
    "QLinearSoftmax", "QLinearWhere", "GemmFloat8", "GatherBlockQuantized", "GatherPacked",
    "QOrderedAttention", "QOrderedGelu", "QOrderedLayerNormalization",
    "QOrderedLongformerAttention", "QOrderedMatMul", "ReduceSumInteger",
    domain="com.microsoft", why=ROUNDS,
)  # fmt: skip
no_derivative("QLinearConv", "QLinearConvTranspose", domain="com.ms.internal.nhwc", why=ROUNDS)

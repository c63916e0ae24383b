"""Which kernels that were timed stand for an operator: one function for each, and what is taken where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from neural_cost.analyzer.node import Unknown
from neural_cost.analyzer.prediction import control, convolutions, elementwise, irregular, moving, products, signals
from neural_cost.analyzer.prediction.element_types import of_type
from neural_cost.analyzer.prediction.piece import Job, Piece, count

Pieces = Callable[[Job], Iterator[Piece]]
VIEWS = (
    "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Shape", "Size", "Dropout", "Constant",
    "OptionalGetElement", "SequenceConstruct", "SequenceAt", "Optional", "OptionalHasElement", "SequenceEmpty",
    "SequenceLength",
)  # fmt: skip
UNARY = (
    "Relu", "LeakyRelu", "Sigmoid", "Tanh", "Erf", "Exp", "Log", "Sqrt", "Reciprocal", "Neg", "Abs", "HardSigmoid",
    "HardSwish", "Softplus", "Floor", "Sin", "Elu", "Round", "Sign", "IsNaN", "Clip", "Cast", "Not",
)  # fmt: skip
NORMALIZATIONS = (
    "LayerNormalization", "SimplifiedLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
    "RMSNormalization",
)  # fmt: skip
REDUCTIONS = (
    "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
    "ReduceLogSumExp", "ReduceSumSquare", "ArgMax", "ArgMin",
)  # fmt: skip
FILLING = ("ConstantOfShape", "Range", "EyeLike", "Trilu")
BINARY = ("Add", "Mul", "Div", "Pow", "Min", "Equal", "Less", "And", "Where")
KINDS: Mapping[str, Pieces] = {
    **dict.fromkeys(VIEWS, moving.nothing),
    **dict.fromkeys((*UNARY, *BINARY, *elementwise.LIKE), elementwise.elementwise),
    **dict.fromkeys(("Gelu", "FastGelu", "QuickGelu", "QuantizeLinear", "DequantizeLinear"), elementwise.unary),
    "DynamicQuantizeLinear": elementwise.unary,
    **dict.fromkeys(("BiasGelu", "FastGelu with bias"), elementwise.bias_gelu),
    **dict.fromkeys(("Conv", "FusedConv", "NhwcFusedConv"), convolutions.convolution),
    "ConvTranspose": convolutions.transposed,
    **dict.fromkeys(("QLinearConv", "ConvInteger"), convolutions.quantized),
    "MatMul": products.matmul,
    **dict.fromkeys(("Gemm", "FusedGemm"), products.gemm),
    "FusedMatMul": products.fused_matmul,
    "Einsum": products.einsum,
    **dict.fromkeys(
        ("MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QLinearMatMul"), products.integers
    ),
    **dict.fromkeys(("LSTM", "GRU", "RNN", "DynamicQuantizeLSTM"), products.recurrent),
    **dict.fromkeys(("Softmax", "LogSoftmax"), elementwise.softmax),
    **dict.fromkeys(NORMALIZATIONS, elementwise.normalization),
    **dict.fromkeys(REDUCTIONS, elementwise.reduction),
    "BatchNormalization": elementwise.batch_normalization,
    **dict.fromkeys(("InstanceNormalization", "GroupNormalization"), elementwise.instance_normalization),
    "LRN": elementwise.local_response,
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), elementwise.pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), elementwise.global_pool),
    "Transpose": moving.transpose,
    "Gather": moving.gather,
    "Concat": moving.concat,
    "Split": moving.split,
    "Slice": moving.part,
    "Pad": moving.pad,
    "Expand": moving.expand,
    **dict.fromkeys(("Resize", "Upsample"), moving.resize),
    "Tile": irregular.tiled,
    "GatherND": irregular.gathered_rows,
    "GatherElements": irregular.gathered,
    **dict.fromkeys(("ScatterND", "ScatterElements", "Scatter"), irregular.scattered),
    "CumSum": irregular.cumulated,
    "OneHot": irregular.one_hot,
    "TopK": irregular.best_of,
    "NonZero": irregular.nonzero,
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), irregular.blocks),
    "GridSample": irregular.sampled,
    **dict.fromkeys(("Loop", "Scan"), control.loop),
    "If": control.branch,
    "STFT": signals.short_time,
    "DFT": signals.discrete,
    **dict.fromkeys(FILLING, irregular.filled),
}
ALIASES = {
    "RMSNormalization": "SimplifiedLayerNormalization",
    "SkipSimplifiedLayerNormalization": "SkipLayerNormalization",
    "LogSoftmax": "Softmax",
}
# Groups whose kernel says more than the node that they are found from.
PREFERRED = (
    "BiasGelu", "Gelu", "FastGelu", "QuickGelu", "LayerNormalization", "SkipLayerNormalization", "Split",
    "SkipSimplifiedLayerNormalization",
)  # fmt: skip
BYTES_ADDED = 12  # of an element that an Add of float32 makes


def pieces(job: Job) -> list[Piece] | None:
    """What a group is made of; None where its cost is not known, so that there is nothing to go by."""
    by_kernel, by_anchor = KINDS.get(job.kernel), KINDS.get(job.node.op_type)
    find = by_kernel if job.group.kernel in PREFERRED else by_anchor or by_kernel
    try:
        if find is not None:
            return [of_type(job, piece._replace(kind=ALIASES.get(piece.kind, piece.kind))) for piece in find(job)]
    except Unknown:
        return None
    return unknown(job)


def unknown(job: Job) -> list[Piece] | None:
    """An operator that none was timed for: its products as a MatMul, the rest as fast as sums move as many bytes."""
    cost = job.graph.nodes[job.group.anchor].cost
    if cost is None:
        return None
    found = [Piece("Add", (max(1, int(cost.traffic_bytes)) / BYTES_ADDED,), guess=True)]
    if cost.macs:
        columns = max(1, int(count(job.node.y) ** 0.5))
        found.append(Piece("MatMul", (1, columns, int(cost.macs) / columns**2, columns), guess=True))
    return found

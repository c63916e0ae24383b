"""com.microsoft: quantized pooling, reduction, recurrence and look-up, quantization itself, and channels last."""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends.borrow import borrow, to_nchw, to_nhwc
from neural_cost.analyzer.shape_mends.reading import (
    Dim,
    dims_of,
    given,
    integer,
    integers,
    normal_axis,
    required,
    set_output,
    text,
)
from neural_cost.analyzer.shape_mends.registry import ask_upstream, mend

MICROSOFT = "com.microsoft"


@mend("QLinearAveragePool", "NhwcMaxPool", "MaxpoolWithMask", domain=MICROSOFT)
def pool(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Pooling; upstream gives the quantized one the shape of its input."""
    x = required(node, 0)
    nhwc = node.op_type == "NhwcMaxPool" or bool(integer(node, "channels_last"))
    dims = borrow(context, "MaxPool", 12, node, [to_nchw(dims_of(x), nhwc)])
    set_output(context, node, 0, to_nhwc(dims, nhwc), x.dtype)


@mend("QLinearGlobalAveragePool", domain=MICROSOFT)
def global_pool(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Every axis but batch and channels becomes 1; upstream gives the shape of the input."""
    x = required(node, 0)
    nhwc = bool(integer(node, "channels_last"))
    dims = to_nchw(dims_of(x), nhwc)
    ones: list[Dim] | None = None if dims is None else [*dims[:2], *[1] * (len(dims) - 2)]
    set_output(context, node, 0, to_nhwc(ones, nhwc), x.dtype)


@mend("QLinearReduceMean", domain=MICROSOFT)
def reduce_mean(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A reduction; upstream gives the shape of the input."""
    x = required(node, 0)
    set_output(context, node, 0, _reduced(node, x), x.dtype)


@mend("ReduceSumInteger", domain=MICROSOFT)
def reduce_sum_integer(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A sum of 8-bit integers in 32 bits, signed or not: only a declaration says which."""
    set_output(context, node, 0, _reduced(node, required(node, 0)), None)


def _reduced(node: ir.Node, x: ir.Value) -> list[Dim] | None:
    dims = dims_of(x)
    if dims is None:
        return None
    axes = {normal_axis(node, axis, len(dims)) for axis in integers(node, "axes", list(range(len(dims))))}
    kept = bool(integer(node, "keepdims", 1))
    return [1 if i in axes else dim for i, dim in enumerate(dims) if kept or i not in axes]


@mend("QEmbedLayerNormalization", domain=MICROSOFT)
def embed(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Upstream gives the output the type of the quantized table; it has that of the scales."""
    ask_upstream(context, node, 1)
    context.set_dtype(node.outputs[0], required(node, 8).dtype)


@mend("QuantizeLinear", domain=MICROSOFT)
def quantize(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The type of the zero point, uint8 without one."""
    zero = given(node, 2)
    dtype = ir.DataType.UINT8 if zero is None else zero.dtype
    set_output(context, node, 0, dims_of(required(node, 0)), dtype)


@mend("DequantizeLinear", domain=MICROSOFT)
def dequantize(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The type of the scale."""
    set_output(context, node, 0, dims_of(required(node, 0)), required(node, 1).dtype)


@mend("QuantizeWithOrder", domain=MICROSOFT)
def quantize_with_order(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Signed bytes in another order."""
    set_output(context, node, 0, dims_of(required(node, 0)), ir.DataType.INT8)


@mend("DequantizeWithOrder", domain=MICROSOFT)
def dequantize_with_order(context: ShapeInferenceContext, node: ir.Node) -> None:
    """An attribute says the type."""
    set_output(context, node, 0, dims_of(required(node, 0)), ir.DataType(integer(node, "to")))


@mend("GatherPacked", domain=MICROSOFT)
def gather_packed(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Rows of K looked up in a packed table."""
    dims = dims_of(required(node, 1))
    dtype = ir.DataType(integer(node, "output_dtype", ir.DataType.BFLOAT16))
    set_output(context, node, 0, None if dims is None else [*dims, integer(node, "K")], dtype)


@mend("MulInteger", domain=MICROSOFT)
def mul_integer(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A product of 8-bit integers in 32 bits; zero points stand between and after the operands."""
    dims = borrow(context, "Mul", 14, node, [dims_of(required(node, 0)), dims_of(required(node, 2))])
    set_output(context, node, 0, dims, ir.DataType.INT32)


@mend("DynamicQuantizeLSTM", "AttnLSTM", domain=MICROSOFT)
def lstm(context: ShapeInferenceContext, node: ir.Node) -> None:
    """An LSTM, its sequence axis first."""
    x = required(node, 0)
    dims = dims_of(x, 3)
    hidden, directions = integer(node, "hidden_size"), 2 if text(node, "direction") == "bidirectional" else 1
    every = None if dims is None else [dims[0], directions, dims[1], hidden]
    last = None if dims is None else [directions, dims[1], hidden]
    for index, shape in enumerate((every, last, last)):
        set_output(context, node, index, shape, x.dtype)


@mend("GatherBlockQuantized", domain=MICROSOFT)
def gather_quantized(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Rows looked up in a quantized table; bytes hold several elements along the axis that is quantized."""
    data, indices, scales = (required(node, i) for i in range(3))
    dims, places = dims_of(data), dims_of(indices)
    if dims is None or places is None:
        set_output(context, node, 0, None, scales.dtype)
        return
    if data.dtype == ir.DataType.UINT8:
        axis = normal_axis(node, integer(node, "quantize_axis", 1), len(dims))
        dims[axis] = dims[axis] * (8 // integer(node, "bits", 4))
    at = normal_axis(node, integer(node, "gather_axis"), len(dims))
    set_output(context, node, 0, [*dims[:at], *places, *dims[at + 1 :]], scales.dtype)

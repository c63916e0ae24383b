"""com.microsoft: convolutions and matrix products, plain, fused and of packed weights."""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends.borrow import borrow, conv, matmul
from neural_cost.analyzer.shape_mends.reading import Dim, dims_of, given, integer, known_ints, required, set_output
from neural_cost.analyzer.shape_mends.registry import mend

MICROSOFT = "com.microsoft"


@mend("FusedConv", domain=MICROSOFT)
def fused_conv(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A Conv; the activation and the sum that are fused in change no shape."""
    x = required(node, 0)
    set_output(context, node, 0, conv(context, node, dims_of(x), dims_of(required(node, 1))), x.dtype)


@mend("NhwcConv", "NhwcFusedConv", domain=MICROSOFT)
def nhwc_conv(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A Conv with the channels last; its weights are as Conv's."""
    x = required(node, 0)
    set_output(context, node, 0, conv(context, node, dims_of(x), dims_of(required(node, 1)), nhwc=True), x.dtype)


@mend("FusedGemm", domain=MICROSOFT)
def fused_gemm(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A Gemm."""
    a = required(node, 0)
    set_output(context, node, 0, borrow(context, "Gemm", 13, node, [dims_of(a), dims_of(required(node, 1))]), a.dtype)


@mend("GemmFloat8", domain=MICROSOFT)
def gemm_float8(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A Gemm that says its own type; upstream leaves that and the transpositions out."""
    shapes = [dims_of(required(node, 0)), dims_of(required(node, 1))]
    dims = borrow(context, "Gemm", 13, node, shapes)
    set_output(context, node, 0, dims, ir.DataType(integer(node, "dtype", ir.DataType.FLOAT)))


@mend("QGemm", domain=MICROSOFT)
def q_gemm(context: ShapeInferenceContext, node: ir.Node) -> None:
    """With a zero point of the output its type holds; upstream takes that of the scale, which is always a float."""
    dims = borrow(context, "Gemm", 13, node, [dims_of(required(node, 0)), dims_of(required(node, 3))])
    zero = given(node, 8)
    set_output(context, node, 0, dims, ir.DataType.FLOAT if zero is None else zero.dtype)


@mend("FusedMatMul", "FusedMatMulActivation", "TransposeMatMul", domain=MICROSOFT)
def fused_matmul(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Operands may be transposed, the first axis also with those between it and the last; upstream omits the latter."""
    a, b = required(node, 0), required(node, 1)
    left = _transposed(dims_of(a), integer(node, "transBatchA"), integer(node, "transA"))
    right = _transposed(dims_of(b), integer(node, "transBatchB"), integer(node, "transB"))
    set_output(context, node, 0, matmul(context, node, left, right), a.dtype)


def _transposed(dims: list[Dim] | None, batch: int, last: int) -> list[Dim] | None:
    if dims is None or len(dims) < 2:
        return dims
    if batch:
        dims = [*dims[1:-1], dims[0], dims[-1]]
    return [*dims[:-2], dims[-1], dims[-2]] if last else dims


@mend("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A product of integers, rescaled to the type of the scales."""
    dims = matmul(context, node, dims_of(required(node, 0)), dims_of(required(node, 1)))
    set_output(context, node, 0, dims, required(node, 2).dtype)


@mend("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A product whose left operand is quantized on the way."""
    a = required(node, 0)
    set_output(context, node, 0, matmul(context, node, dims_of(a), dims_of(required(node, 1))), a.dtype)


@mend("MatMulInteger16", domain=MICROSOFT)
def matmul_integer16(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A product of 16-bit integers in 32 bits."""
    dtype = ir.DataType.UINT32 if required(node, 0).dtype == ir.DataType.UINT16 else ir.DataType.INT32
    dims = matmul(context, node, dims_of(required(node, 0)), dims_of(required(node, 1)))
    set_output(context, node, 0, dims, dtype)


@mend("MatMulBnb4", "MatMulNBitsQLoRA", "MatMulPacked", domain=MICROSOFT)
def matmul_packed(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The last axis becomes N: the weights are packed, so an attribute says it."""
    a = required(node, 0)
    dims = dims_of(a)
    features = integer(node, "N" if integer(node, "transB", 1) else "K")
    set_output(context, node, 0, None if dims is None else [*dims[:-1], features], a.dtype)


@mend("MatMulNBitsMlp", domain=MICROSOFT)
def matmul_nbits_mlp(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Gate and up of N features in one; the sum with the skip is like the input."""
    a = required(node, 0)
    dims = dims_of(a)
    set_output(context, node, 0, None if dims is None else [*dims[:-1], integer(node, "N")], a.dtype)
    set_output(context, node, 1, dims, a.dtype)


@mend("MatMulNBitsQkv", domain=MICROSOFT)
def matmul_nbits_qkv(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Query, key and value of one input; the sum with the skip is like the input."""
    a = required(node, 0)
    dims = dims_of(a)
    for index, name in enumerate(("Nq", "Nkv", "Nkv")):
        set_output(context, node, index, None if dims is None else [*dims[:-1], integer(node, name)], a.dtype)
    set_output(context, node, 3, dims, a.dtype)


@mend("MatMulFpQ4", domain=MICROSOFT)
def matmul_fp_q4(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The shape of the packed weights is an input."""
    a, shape = required(node, 0), known_ints(required(node, 2))
    right: list[Dim] | None = None if shape is None else list(shape)
    set_output(context, node, 0, None if right is None else matmul(context, node, dims_of(a), right), a.dtype)


@mend("SparseToDenseMatMul", domain=MICROSOFT)
def sparse_matmul(context: ShapeInferenceContext, node: ir.Node) -> None:
    """As FusedMatMul; the type is that of the dense operand."""
    left = _transposed(dims_of(required(node, 0)), 0, integer(node, "transA"))
    right = _transposed(dims_of(required(node, 1)), 0, integer(node, "transB"))
    set_output(context, node, 0, matmul(context, node, left, right), required(node, 1).dtype)


@mend("RouterGateUpProj", domain=MICROSOFT)
def router_gate_up(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The router's columns, and half of the others: gate and up become one."""
    x, weights = required(node, 0), dims_of(required(node, 1), 2)
    dims, routes = dims_of(x), integer(node, "router_size")
    set_output(context, node, 0, None if dims is None else [*dims[:-1], routes], x.dtype)
    halves = None if dims is None or weights is None else [*dims[:-1], (weights[1] - routes) // 2]
    set_output(context, node, 1, halves, x.dtype)


@mend("HyperConnectionLowRankMix", domain=MICROSOFT)
def hyper_connection(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Streams side by side on the last axis become one; a gate for each of them."""
    streams = required(node, 0)
    dims, branches = dims_of(streams), integer(node, "num_branches", 1)
    set_output(context, node, 0, None if dims is None else [*dims[:-1], dims[-1] // branches], streams.dtype)
    set_output(context, node, 1, None if dims is None else [*dims[:-1], branches], streams.dtype)
    set_output(context, node, 2, dims, streams.dtype)

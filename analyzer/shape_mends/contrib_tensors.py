"""com.microsoft: the rest: element by element, views and parts of tensors, sampling and search."""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends.borrow import borrow
from neural_cost.analyzer.shape_mends.reading import (
    Dim,
    array,
    dims_of,
    fresh,
    given,
    integer,
    known_int,
    known_ints,
    normal_axis,
    product,
    required,
    set_output,
)
from neural_cost.analyzer.shape_mends.registry import mend

MICROSOFT = "com.microsoft"


@mend("BiasSoftmax", "Inverse", "Trilu", "SampleOp", "MoEPacked", domain=MICROSOFT)
def like_first(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Like the first input."""
    x = required(node, 0)
    set_output(context, node, 0, dims_of(x), x.dtype)


@mend("NGramRepeatBlock", domain=MICROSOFT)
def like_second(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Like the scores, which are the second input."""
    scores = required(node, 1)
    set_output(context, node, 0, dims_of(scores), scores.dtype)


@mend("ConvStateReplay", "GatedDeltaNetStateReplay", domain=MICROSOFT)
def like_third(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The third input, written to."""
    destination = required(node, 2)
    set_output(context, node, 0, dims_of(destination), destination.dtype)


@mend("BiasDropout", domain=MICROSOFT)
def dropout(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Like the data, with a mask of booleans."""
    x = required(node, 0)
    set_output(context, node, 0, dims_of(x), x.dtype)
    set_output(context, node, 1, dims_of(x), ir.DataType.BOOL)


@mend("BitmaskDropout", "BitmaskBiasDropout", domain=MICROSOFT)
def bitmask_dropout(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Like the data, with a mask of bits in words of 32."""
    x = required(node, 0)
    dims = dims_of(x)
    set_output(context, node, 0, dims, x.dtype)
    words = None if dims is None else [(product(dims) + 31) // 32]
    set_output(context, node, 1, words, ir.DataType.UINT32)


@mend("ComplexMul", "ComplexMulConj", domain=MICROSOFT)
def complex_mul(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Broadcast; the last axis holds the real and imaginary parts."""
    a = required(node, 0)
    set_output(context, node, 0, borrow(context, "Mul", 14, node, [dims_of(a), dims_of(required(node, 1))]), a.dtype)


@mend("SwiGLU", domain=MICROSOFT)
def swiglu(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Without the second input the first holds both halves."""
    gate = required(node, 0)
    dims = dims_of(gate)
    if dims is not None and given(node, 1) is None:
        dims[-1] = dims[-1] // 2
    set_output(context, node, 0, dims, gate.dtype)


@mend("IsAllFinite", domain=MICROSOFT)
def is_all_finite(context: ShapeInferenceContext, node: ir.Node) -> None:
    """One boolean."""
    set_output(context, node, 0, [], ir.DataType.BOOL)


@mend("MurmurHash3", domain=MICROSOFT)
def murmur_hash(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A 32-bit number for each element."""
    dtype = ir.DataType.UINT32 if integer(node, "positive", 1) else ir.DataType.INT32
    set_output(context, node, 0, dims_of(required(node, 0)), dtype)


@mend("CDist", domain=MICROSOFT)
def cdist(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A distance for each pair of rows."""
    a, left, right = required(node, 0), dims_of(required(node, 0), 2), dims_of(required(node, 1), 2)
    set_output(context, node, 0, None if left is None or right is None else [left[0], right[0]], a.dtype)


@mend("CropAndResize", domain=MICROSOFT)
def crop_and_resize(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A crop for each box, all of one size."""
    x = required(node, 0)
    dims, boxes, size = dims_of(x, 4), dims_of(required(node, 1), 2), known_ints(required(node, 3))
    crop: list[Dim] = fresh(context, 2) if size is None else list(size)
    set_output(context, node, 0, None if dims is None or boxes is None else [boxes[0], dims[1], *crop], x.dtype)


@mend("GridSample", domain=MICROSOFT)
def grid_sample(context: ShapeInferenceContext, node: ir.Node) -> None:
    """As the standard operator."""
    x = required(node, 0)
    dims, grid = dims_of(x), dims_of(required(node, 1))
    set_output(context, node, 0, None if dims is None or grid is None else [*dims[:2], *grid[1:-1]], x.dtype)


@mend("ExpandDims", domain=MICROSOFT)
def expand_dims(context: ShapeInferenceContext, node: ir.Node) -> None:
    """One axis more, at a place that is an input."""
    x = required(node, 0)
    dims, axis = dims_of(x), known_int(context, required(node, 1))
    if dims is not None and isinstance(axis, int):
        dims.insert(normal_axis(node, axis, len(dims) + 1), 1)
    elif dims is not None:
        dims = fresh(context, len(dims) + 1)
    set_output(context, node, 0, dims, x.dtype)


@mend("GatherND", domain=MICROSOFT)
def gather_nd(context: ShapeInferenceContext, node: ir.Node) -> None:
    """As the standard operator without batch axes."""
    data = required(node, 0)
    dims, indices = dims_of(data), dims_of(required(node, 1))
    depth = None if indices is None else indices[-1]
    if dims is None or indices is None or not isinstance(depth, int):
        set_output(context, node, 0, None, data.dtype)
    else:
        set_output(context, node, 0, [*indices[:-1], *dims[depth:]], data.dtype)


@mend("TorchEmbedding", domain=MICROSOFT)
def torch_embedding(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A row of the table for each index."""
    table, indices = required(node, 0), dims_of(required(node, 1))
    dims = dims_of(table, 2)
    set_output(context, node, 0, None if dims is None or indices is None else [*indices, dims[1]], table.dtype)


@mend("Pad", domain=MICROSOFT)
def pad(context: ShapeInferenceContext, node: ir.Node) -> None:
    """As the standard operator; the pads may be a row."""
    x = required(node, 0)
    dims, pads = dims_of(x), known_ints(required(node, 1))
    if dims is not None:
        rank = len(dims)
        dims = fresh(context, rank) if pads is None else [d + pads[i] + pads[i + rank] for i, d in enumerate(dims)]
    set_output(context, node, 0, dims, x.dtype)


@mend("Range", domain=MICROSOFT)
def range_(context: ShapeInferenceContext, node: ir.Node) -> None:
    """As the standard operator; the step is 1 where it is absent."""
    start, limit = array(required(node, 0)), array(required(node, 1))
    step = array(given(node, 2))
    length: Dim = context.new_symbolic_dim()
    if start is not None and limit is not None and (step is not None or given(node, 2) is None):
        by = 1 if step is None else step.item()
        length = max(0, int(-((start.item() - limit.item()) // by)))
    set_output(context, node, 0, [length], required(node, 0).dtype)


@mend("UnfoldTensor", domain=MICROSOFT)
def unfold(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Windows along an axis, and a last axis that holds their elements."""
    x = required(node, 0)
    dims, size = dims_of(x), integer(node, "size")
    if dims is not None:
        axis = normal_axis(node, integer(node, "dim", -1), len(dims))
        dims[axis] = (dims[axis] - size) // integer(node, "step", 1) + 1
        dims.append(size)
    set_output(context, node, 0, dims, x.dtype)


@mend("Unique", domain=MICROSOFT)
def unique(context: ShapeInferenceContext, node: ir.Node) -> None:
    """How many values differ is found in a run."""
    x = required(node, 0)
    count = [context.new_symbolic_dim()]
    for index, (dims, dtype) in enumerate(
        ((count, x.dtype), (dims_of(x), ir.DataType.INT64), (count, ir.DataType.INT64))
    ):
        set_output(context, node, index, dims, dtype)


@mend("DynamicTimeWarping", domain=MICROSOFT)
def dynamic_time_warping(context: ShapeInferenceContext, node: ir.Node) -> None:
    """How long the path is, is found in a run."""
    set_output(context, node, 0, [2, context.new_symbolic_dim()], ir.DataType.INT32)


@mend("Tokenizer", domain=MICROSOFT)
def tokenizer(context: ShapeInferenceContext, node: ir.Node) -> None:
    """How many tokens the longest string has is found in a run."""
    dims = dims_of(required(node, 0))
    out = None if dims is None else [*dims, context.new_symbolic_dim()]
    set_output(context, node, 0, out, ir.DataType.STRING)


@mend("BifurcationDetector", domain=MICROSOFT)
def bifurcation(context: ShapeInferenceContext, node: ir.Node) -> None:
    """How many tokens it merges is found in a run."""
    tokens = required(node, 1)
    set_output(context, node, 0, [context.new_symbolic_dim()], tokens.dtype)
    set_output(context, node, 1, [], ir.DataType.INT64)


@mend("Rfft", domain=MICROSOFT)
def rfft(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Half of a spectrum along the last axis, real and imaginary parts on one more."""
    x = required(node, 0)
    dims = dims_of(x)
    out = None if dims is None else [*dims[:-1], dims[-1] // 2 + 1, 2]
    set_output(context, node, 0, out if integer(node, "signal_ndim") == 1 else None, x.dtype)


@mend("Irfft", domain=MICROSOFT)
def irfft(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The inverse: an even number of samples."""
    x = required(node, 0)
    dims = dims_of(x)
    out = None if dims is None else [*dims[:-2], (dims[-2] - 1) * 2]
    set_output(context, node, 0, out if integer(node, "signal_ndim") == 1 else None, x.dtype)


@mend("GreedySearch", "Sampling", domain=MICROSOFT)
def search(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Sequences as long as the longest may be."""
    prompt = required(node, 0)
    dims, length = dims_of(prompt), known_int(context, required(node, 1))
    out = None if dims is None else [dims[0], context.new_symbolic_dim() if length is None else length]
    set_output(context, node, 0, out, ir.DataType.INT32)


@mend("BeamSearch", "WhisperBeamSearch", domain=MICROSOFT)
def beam_search(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The same, several for each prompt."""
    dims = dims_of(required(node, 0))
    length, several = known_int(context, required(node, 1)), known_int(context, required(node, 4))
    sizes = [context.new_symbolic_dim() if size is None else size for size in (several, length)]
    set_output(context, node, 0, None if dims is None else [dims[0], *sizes], ir.DataType.INT32)

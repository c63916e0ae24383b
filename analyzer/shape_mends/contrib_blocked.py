"""com.microsoft.nchwc: what ONNX Runtime makes of convolutions on CPUs, channels in blocks of 8 or 16.

Shapes are written as (batch, channels, positions...) all the same, with channels padded to whole blocks.
"""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends.borrow import borrow, conv, to_nchw, to_nhwc
from neural_cost.analyzer.shape_mends.reading import Dim, dims_of, integer, integers, required, set_output
from neural_cost.analyzer.shape_mends.registry import mend

BLOCKED = "com.microsoft.nchwc"
LARGEST_BLOCK = 16


@mend("Conv", domain=BLOCKED)
def blocked_conv(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A Conv; its filters are padded to whole blocks, so its output is too."""
    x = required(node, 0)
    set_output(context, node, 0, conv(context, node, dims_of(x), dims_of(required(node, 1))), x.dtype)


@mend("AveragePool", "MaxPool", domain=BLOCKED)
def blocked_pool(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Pooling."""
    x = required(node, 0)
    set_output(context, node, 0, borrow(context, "MaxPool", 12, node, [dims_of(x)]), x.dtype)


@mend("GlobalAveragePool", "GlobalMaxPool", domain=BLOCKED)
def blocked_global_pool(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Every axis but batch and channels becomes 1."""
    x = required(node, 0)
    dims = dims_of(x)
    set_output(context, node, 0, None if dims is None else [*dims[:2], *[1] * (len(dims) - 2)], x.dtype)


@mend("ReorderInput", domain=BLOCKED)
def reorder_input(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Channels become the second axis, in whole blocks."""
    x = required(node, 0)
    dims = to_nchw(dims_of(x), bool(integer(node, "channels_last")))
    if dims is not None and not _whole_blocks(dims[1]):
        dims[1] = _channels_of_filters(node) or context.new_symbolic_dim()
    set_output(context, node, 0, dims, x.dtype)


def _whole_blocks(channels: Dim) -> bool:
    return isinstance(channels, int) and channels % LARGEST_BLOCK == 0


def _channels_of_filters(node: ir.Node) -> Dim | None:
    """How many channels the first convolution of the reordered data takes: its filters show the size of a block."""
    value = node.outputs[0]
    for use in value.uses():
        reader = use.node
        if reader.domain == BLOCKED and reader.op_type == "Conv" and reader.inputs[0] is value:
            filters = dims_of(reader.inputs[1])
            return None if filters is None else filters[1] * integer(reader, "group", 1)
    return None


@mend("ReorderOutput", domain=BLOCKED)
def reorder_output(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The padding is dropped; channels are last where an attribute says so."""
    x = required(node, 0)
    dims = dims_of(x)
    if dims is not None:
        dims[1] = integer(node, "channels")
    set_output(context, node, 0, to_nhwc(dims, bool(integer(node, "channels_last"))), x.dtype)


@mend("Upsample", domain=BLOCKED)
def blocked_upsample(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Every axis times its scale, which is a whole number."""
    x = required(node, 0)
    dims = dims_of(x)
    if dims is not None:
        dims = [dim * scale for dim, scale in zip(dims, integers(node, "scales", [1] * len(dims)), strict=True)]
    set_output(context, node, 0, dims, x.dtype)

"""Mends of operators that resample: Resize, Upsample, MaxUnpool, ConvTranspose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends.reading import (
    Dim,
    array,
    dims_of,
    fresh,
    given,
    integers,
    known_ints,
    normal_axis,
    required,
    set_output,
    text,
)
from neural_cost.analyzer.shape_mends.registry import ask_upstream, mend


@mend("Resize", since=10)
def resize_10(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Scales are the second input in opset 10; upstream looks at the third."""
    _by_scales(context, node, array(required(node, 1)), None)


@mend("Resize", since=11)
def resize(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Upstream rounds down what keep_aspect_ratio_policy rounds to nearest, and multiplies scales as decimals."""
    x = required(node, 0)
    dims, sizes = dims_of(x), known_ints(given(node, 3))
    axes = None if dims is None else _axes(node, len(dims))
    if dims is None or axes is None or not sizes:
        _by_scales(context, node, array(given(node, 2)), axes)
        return
    kept = text(node, "keep_aspect_ratio_policy", "stretch")
    before = [dims[axis] for axis in axes]
    for axis, size in zip(axes, sizes if kept == "stretch" else _kept(context, before, sizes, kept), strict=True):
        dims[axis] = size
    set_output(context, node, 0, dims, x.dtype)


def _axes(node: ir.Node, rank: int) -> list[int]:
    return [normal_axis(node, axis, rank) for axis in integers(node, "axes", list(range(rank)))]


def _kept(context: ShapeInferenceContext, before: Sequence[Dim], sizes: list[int], policy: str) -> list[Dim]:
    """One scale for all axes, the result to nearest with halves up (as ONNX says), in float32 (as runtimes do)."""
    numbers = [dim for dim in before if isinstance(dim, int) and dim > 0]
    if len(numbers) != len(before):
        return fresh(context, len(before))
    scales = [np.float32(size) / np.float32(dim) for size, dim in zip(sizes, numbers, strict=True)]
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [int(np.floor(np.float32(dim) * scale + np.float32(0.5))) for dim in numbers]


@mend("Upsample", since=7)
def upsample_7(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Scales are an attribute in opset 7 and 8; upstream looks for an input."""
    _by_scales(context, node, np.asarray(node.attributes["scales"].as_floats()), None)


@mend("Upsample", since=9)
def upsample(context: ShapeInferenceContext, node: ir.Node) -> None:
    """As Resize of opset 10."""
    _by_scales(context, node, array(required(node, 1)), None)


def _by_scales(
    context: ShapeInferenceContext, node: ir.Node, scales: np.ndarray | None, axes: list[int] | None
) -> None:
    x = required(node, 0)
    dims = dims_of(x)
    if dims is not None:
        axes = list(range(len(dims))) if axes is None else axes
        if scales is None or scales.size != len(axes):
            dims = fresh(context, len(dims))
        else:
            for axis, scale in zip(axes, scales.flatten(), strict=True):
                dims[axis] = _scaled(context, dims[axis], np.float32(scale))
    set_output(context, node, 0, dims, x.dtype)


def _scaled(context: ShapeInferenceContext, dim: Dim, scale: np.float32) -> Dim:
    if isinstance(dim, int):
        return int(np.floor(np.float32(dim) * scale))  # float32, as ONNX and ONNX Runtime compute it
    ratio = float(scale)
    if ratio.is_integer():
        return dim * int(ratio)
    return dim // round(1 / ratio) if (1 / ratio).is_integer() else context.new_symbolic_dim()


@mend("MaxUnpool", since=9)
def max_unpool(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Without output_shape it undoes MaxPool's arithmetic, which upstream leaves out."""
    x = required(node, 0)
    dims, sizes = dims_of(x), known_ints(given(node, 2))
    if given(node, 2) is not None:
        out: list[Dim] | None = (
            list(sizes) if sizes is not None else None if dims is None else fresh(context, len(dims))
        )
    elif dims is None:
        out = None
    else:
        spatial = len(dims) - 2
        kernel = integers(node, "kernel_shape", [])
        strides, pads = integers(node, "strides", [1] * spatial), integers(node, "pads", [0] * 2 * spatial)
        out = dims[:2] + [
            (dims[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[i + spatial] for i in range(spatial)
        ]
    set_output(context, node, 0, out, x.dtype)


@mend("ConvTranspose")
def conv_transpose(context: ShapeInferenceContext, node: ir.Node) -> None:
    """With auto_pad SAME the output is input times stride, or less: padding is never below 0; upstream forgets."""
    ask_upstream(context, node, 1)
    x, found, kernel = dims_of(required(node, 0)), dims_of(node.outputs[0]), dims_of(required(node, 1))
    if x is None or found is None or kernel is None or "output_shape" in node.attributes:
        return
    if not text(node, "auto_pad").startswith("SAME"):
        return
    spatial = len(x) - 2
    strides, dilations = integers(node, "strides", [1] * spatial), integers(node, "dilations", [1] * spatial)
    added = integers(node, "output_padding", [0] * spatial)
    for i, (stride, dilation) in enumerate(zip(strides, dilations, strict=True)):
        size, taps = x[i + 2], kernel[i + 2]
        if not isinstance(taps, int):
            found[i + 2] = context.new_symbolic_dim()
        else:
            found[i + 2] = size * stride + min(0, added[i] + (taps - 1) * dilation + 1 - stride)
    context.set_shape(node.outputs[0], ir.Shape(found))

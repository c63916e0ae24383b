"""Mends of operators whose output's size is found in the data."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends.reading import (
    Dim,
    array,
    dims_of,
    known_int,
    normal_axis,
    product,
    required,
    set_output,
)
from neural_cost.analyzer.shape_mends.registry import mend


@mend("Unique", since=11)
def unique(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Upstream gives Y the rank 1 with an axis too, and does not know the length of the inverse indices."""
    x = required(node, 0)
    dims, elements = dims_of(x), array(x)
    axis = node.attributes.get("axis")
    count: Dim = context.new_symbolic_dim()
    inverse: Dim = context.new_symbolic_dim()
    y: list[Dim] | None = [count]
    if axis is not None and dims is None:
        y = None
    elif axis is not None and dims is not None:
        i = normal_axis(node, axis.as_int(), len(dims))
        if elements is not None:
            count = np.unique(elements, axis=i).shape[i]
        inverse = dims[i]
        y = [*dims[:i], count, *dims[i + 1 :]]
    elif dims is not None:
        count = count if elements is None else np.unique(elements).size
        inverse = product(dims)
        y = [count]
    set_output(context, node, 0, y, x.dtype)
    for index, size in ((1, count), (2, inverse), (3, count)):
        set_output(context, node, index, [size], ir.DataType.INT64)


@mend("MelWeightMatrix", since=17)
def mel_weight_matrix(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Spectrogram bins by mel bins: upstream takes num_mel_bins and dft_length as they stand."""
    bins, length = known_int(context, required(node, 0)), known_int(context, required(node, 1))
    attr = node.attributes.get("output_datatype")
    dims: list[Dim] = [
        context.new_symbolic_dim() if length is None else length // 2 + 1,
        context.new_symbolic_dim() if bins is None else bins,
    ]
    set_output(context, node, 0, dims, ir.DataType.FLOAT if attr is None else ir.DataType(attr.as_int()))

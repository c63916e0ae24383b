"""Operators as they were in opsets that onnx_shape_inference does not go back to."""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext
from onnx_shape_inference import registry as theirs

from neural_cost.analyzer.shape_mends.indexing import slice_length
from neural_cost.analyzer.shape_mends.reading import (
    Dim,
    dims_of,
    fresh,
    given,
    integer,
    integers,
    known_int,
    normal_axis,
    product,
    required,
    set_output,
    text,
)
from neural_cost.analyzer.shape_mends.registry import mend

SAME_IN = {"Gemm": 7, "Dropout": 7, "GRU": 7, "LSTM": 7, "RNN": 7, "GroupNormalization": 21}  # version alike in shapes


@mend("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mean", "Sum")
@mend("Affine", "ImageScaler", "ParametricSoftplus", "Scale", "ScaledTanh")
def like_first(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Before opset 7 (Max and its kin: 8) only the second operand was broadcast, or none; also what was dropped."""
    x = required(node, 0)
    set_output(context, node, 0, dims_of(x), x.dtype)


@mend("And", "Or", "Xor", "Equal", "Greater", "Less")
def compared(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The same for what answers true or false."""
    set_output(context, node, 0, dims_of(required(node, 0)), ir.DataType.BOOL)


@mend("Gemm", "Dropout", "GRU", "LSTM", "RNN")
@mend("GroupNormalization", since=18)
def as_later(context: ShapeInferenceContext, node: ir.Node) -> None:
    """A later version differs in what does not touch shapes."""
    function = theirs.get("", node.op_type, version=SAME_IN[node.op_type])
    assert function is not None
    function(context, node)


@mend("Cast", until=6)
def cast(context: ShapeInferenceContext, node: ir.Node) -> None:
    """`to` was the name of a type."""
    set_output(context, node, 0, dims_of(required(node, 0)), ir.DataType[text(node, "to")])


@mend("Concat")
def concat(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The axis was 1 where none is given."""
    shapes = [dims_of(value) for value in node.inputs if value is not None]
    first = shapes[0]
    if first is None:
        set_output(context, node, 0, None, required(node, 0).dtype)
        return
    axis = normal_axis(node, integer(node, "axis", 1), len(first))
    length: Dim = 0
    for dims in shapes:
        length = length + (context.new_symbolic_dim() if dims is None else dims[axis])
    set_output(context, node, 0, [*first[:axis], length, *first[axis + 1 :]], required(node, 0).dtype)


@mend("Reshape")
def reshape(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The shape was an attribute."""
    x = required(node, 0)
    dims = dims_of(x)
    wanted = integers(node, "shape", [])
    if dims is None:
        out: list[Dim] = [dim if dim > 0 else context.new_symbolic_dim() for dim in wanted]
    else:
        out = [dims[i] if dim == 0 else dim for i, dim in enumerate(wanted)]
        if -1 in wanted:
            i = wanted.index(-1)
            rest = product([*out[:i], *out[i + 1 :]])
            out[i] = product(dims) // rest if isinstance(rest, int) else context.new_symbolic_dim()
    set_output(context, node, 0, out, x.dtype)


@mend("Slice")
def slice_(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Starts, ends and axes were attributes, and there were no steps."""
    x = required(node, 0)
    dims = dims_of(x)
    starts, ends = integers(node, "starts", []), integers(node, "ends", [])
    if dims is not None:
        for axis, start, end in zip(integers(node, "axes", list(range(len(starts)))), starts, ends, strict=True):
            at = normal_axis(node, axis, len(dims))
            dim = dims[at]
            dims[at] = slice_length(dim, start, end, 1) if isinstance(dim, int) else context.new_symbolic_dim()
    set_output(context, node, 0, dims, x.dtype)


@mend("Split")
def split(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The axis had no default; sizes could be an input of the data's type."""
    x = required(node, 0)
    dims, count = dims_of(x), len(node.outputs)
    if dims is None or "axis" not in node.attributes:
        for i in range(count):
            set_output(context, node, i, None, x.dtype)
        return
    axis = normal_axis(node, integer(node, "axis"), len(dims))
    length = dims[axis]
    sizes: list[Dim] = fresh(context, count)
    if "split" in node.attributes:
        sizes = list(integers(node, "split", []))
    elif given(node, 1) is None and isinstance(length, int):
        sizes = [length // count] * count
    for i, size in zip(range(count), sizes, strict=True):
        set_output(context, node, i, [*dims[:axis], size, *dims[axis + 1 :]], x.dtype)


@mend("Tile")
def tile(context: ShapeInferenceContext, node: ir.Node) -> None:
    """One axis was repeated; which one, and how often, were scalars."""
    x = required(node, 0)
    dims = dims_of(x)
    tiles, axis = known_int(context, required(node, 1)), known_int(context, required(node, 2))
    if dims is not None:
        if isinstance(axis, int) and tiles is not None:
            at = normal_axis(node, axis, len(dims))
            dims[at] = dims[at] * tiles
        else:
            dims = fresh(context, len(dims))
    set_output(context, node, 0, dims, x.dtype)


@mend("TopK")
def top_k(context: ShapeInferenceContext, node: ir.Node) -> None:
    """K was an attribute."""
    x = required(node, 0)
    dims = dims_of(x)
    if dims is not None:
        dims[normal_axis(node, integer(node, "axis", -1), len(dims))] = integer(node, "k")
    set_output(context, node, 0, dims, x.dtype)
    set_output(context, node, 1, dims, ir.DataType.INT64)


@mend("Upsample")
def upsample(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Height and width had a scale each, as attributes."""
    x = required(node, 0)
    dims = dims_of(x)
    if dims is not None:
        for axis, name in ((-2, "height_scale"), (-1, "width_scale")):
            dim, scale = dims[axis], node.attributes[name].as_float()
            dims[axis] = int(dim * scale) if isinstance(dim, int) else context.new_symbolic_dim()
    set_output(context, node, 0, dims, x.dtype)

"""Inference of a standard operator, asked on behalf of another one that works like it."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext
from onnx_shape_inference import registry as theirs

from neural_cost.analyzer.shape_mends.reading import Dim, dims_of


def borrow(
    context: ShapeInferenceContext, op_type: str, version: int, node: ir.Node, shapes: Sequence[list[Dim] | None]
) -> list[Dim] | None:
    """Shape of what a standard operator would make of inputs with these shapes and with the node's attributes."""
    inputs = [ir.Value(name=f"in{i}", shape=None if s is None else ir.Shape(s)) for i, s in enumerate(shapes)]
    stand_in = ir.Node("", op_type, inputs, node.attributes.values(), outputs=[ir.Value(name="out")])
    function = theirs.get("", op_type, version=version)
    assert function is not None
    function(context, stand_in)
    return dims_of(stand_in.outputs[0])


def matmul(
    context: ShapeInferenceContext, node: ir.Node, left: list[Dim] | None, right: list[Dim] | None
) -> list[Dim] | None:
    """Shape of a matrix product."""
    return borrow(context, "MatMul", 13, node, [left, right])


def conv(
    context: ShapeInferenceContext, node: ir.Node, x: list[Dim] | None, weight: list[Dim] | None, *, nhwc: bool = False
) -> list[Dim] | None:
    """Shape of a convolution, its channels second or last."""
    return to_nhwc(borrow(context, "Conv", 11, node, [to_nchw(x, nhwc), weight]), nhwc)


def to_nchw(dims: list[Dim] | None, nhwc: bool) -> list[Dim] | None:
    """Channels from the last place to the second."""
    return dims if dims is None or not nhwc else [dims[0], dims[-1], *dims[1:-1]]


def to_nhwc(dims: list[Dim] | None, nhwc: bool) -> list[Dim] | None:
    """Channels from the second place to the last."""
    return dims if dims is None or not nhwc else [dims[0], *dims[2:], dims[1]]

"""Operators for which upstream forgets dimensions that are symbols."""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends.reading import elements, required
from neural_cost.analyzer.shape_mends.registry import ask_upstream, mend


@mend("ConstantOfShape", since=9)
def constant_of_shape(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Its input is the shape of its output, whether numbers or symbols."""
    ask_upstream(context, node, 9)
    dims = elements(context, required(node, 0))
    if node.outputs[0].shape is None and dims is not None:
        context.set_shape(node.outputs[0], ir.Shape(dims))

"""What onnx_shape_inference lacks, mended through its registry; its test tells when upstream has it."""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext, registry

FLOAT_PER_ELEMENT = ("Scaler", "Normalizer")


def install() -> None:
    """Register the mends for operators that have no inference yet."""
    registry.collect()
    for op_type in FLOAT_PER_ELEMENT:
        if not registry.has("ai.onnx.ml", op_type):
            registry.register("ai.onnx.ml", op_type, since_version=1)(_float_per_element)


def _float_per_element(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Scaler and Normalizer make one float32 for each element."""
    x = node.inputs[0]
    if x is not None and x.shape is not None:
        context.set_shape_and_dtype(node.outputs[0], x.shape, ir.DataType.FLOAT)

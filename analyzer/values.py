"""Values of small tensors: shape arithmetic is followed through them, whatever their rank and type.

onnx_shape_inference follows one-dimensional integers. What it leaves (booleans, floats, matrices of paddings) is
computed by ONNX's own reference implementation, node by node, with a limit on size.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import onnx_ir as ir

MAX_ELEMENTS = 1024  # a shape, a table of paddings
MAX_FLOATS = 16  # the scales of a Resize, the ends of a Range: longer ones are weights
RANDOM = {
    "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial", "Dropout",
}  # fmt: skip

Array = np.ndarray[Any, Any]


class Values:
    """Elements of small tensors. Those that the file holds are read once."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self._held: dict[int, tuple[ir.TensorProtocol, Array | None]] = {}  # holding the tensor keeps its id its own

    def known(self, value: ir.Value | None) -> Array | None:
        """Elements of a small tensor; None where they are not known, too many, or in a file that is not there."""
        tensor = None if value is None else value.const_value
        if tensor is None:
            return None
        held = self._held.get(id(tensor))
        if held is None:
            held = self._held[id(tensor)] = (tensor, _small(tensor))
        return held[1]

    def ints(self, value: ir.Value, dtype: ir.DataType) -> Array | None:
        """The same, for integers and booleans alone."""
        if value.const_value is None or dtype.is_floating_point():
            return None
        return self.known(value) if dtype.is_integer() or dtype == ir.DataType.BOOL else None

    def hold(self, node: ir.Node) -> None:
        """Give the output of a Constant its value, as if it were an initializer."""
        if node.outputs and node.outputs[0].const_value is None:
            try:
                node.outputs[0].const_value = ir.convenience.get_const_tensor(node.outputs[0])
            except Exception:  # a Constant with no value, with two, or with one of another type
                return

    def fold(self, node: ir.Node) -> None:
        """Give a node's outputs their values, where those of all its inputs are known and the results are small."""
        for value in node.inputs:
            if value is not None and value.const_value is None:
                return
        if not _foldable(node):
            return
        inputs = {value.name: self.known(value) for value in node.inputs if value is not None}
        if any(array is None for array in inputs.values()):
            return
        try:
            from onnx.reference import ReferenceEvaluator

            results = ReferenceEvaluator(ir.to_proto(node), opsets={"": self.opset}).run(None, inputs)
        except Exception:  # the reference lacks the operator or its version: the values stay unknown, which is safe
            return
        for value, result in zip(node.outputs, results, strict=False):
            if isinstance(result, np.ndarray | np.generic) and np.asarray(result).size <= MAX_ELEMENTS:
                value.const_value = ir.Tensor(np.asarray(result), name=value.name)


def _small(tensor: ir.TensorProtocol) -> Array | None:
    limit = MAX_FLOATS if tensor.dtype.is_floating_point() else MAX_ELEMENTS
    try:
        if prod(tensor.shape.numpy()) > limit:
            return None
        return np.asarray(tensor.numpy())
    except Exception:  # data that is absent or cut off, elements of a type that numpy lacks, an open shape: not known
        return None


def _foldable(node: ir.Node) -> bool:
    if node.domain not in ("", "ai.onnx") or node.op_type in RANDOM or not node.inputs:
        return False
    if all(value.const_value is not None or not value.name for value in node.outputs):
        return False
    if any(attr.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS) for attr in node.attributes.values()):
        return False
    return all(is_small(value) for value in node.outputs if value.name)


def is_small(value: ir.Value) -> bool:
    """Whether a value is known to have few elements."""
    shape = value.shape
    if shape is None or value.dtype is None or not shape.is_static():
        return False
    limit = MAX_FLOATS if value.dtype.is_floating_point() else MAX_ELEMENTS
    return prod(shape.numpy()) <= limit and min(shape.numpy(), default=0) >= 0

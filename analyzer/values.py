"""Values of small tensors: shape arithmetic is followed through them, whatever their rank and type.

onnx_shape_inference follows one-dimensional integers. What it leaves (booleans, floats, matrices of paddings) is
computed by ONNX's own reference implementation, node by node, with a limit on size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

MAX_ELEMENTS = 1024  # a shape, a padding table, a few scales; never a weight
RANDOM = {
    "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial", "Dropout",
}  # fmt: skip

Array = np.ndarray[Any, Any]


def known(value: ir.Value | None) -> Array | None:
    """Elements of a small constant; None where they are not known, too many, or in a file that is not there."""
    if value is None:
        return None
    tensor = ir.convenience.get_const_tensor(value)
    if tensor is None or any(not isinstance(dim, int) for dim in tensor.shape) or tensor.size > MAX_ELEMENTS:
        return None
    try:
        return np.asarray(tensor.numpy())
    except Exception:  # external data that is absent, or elements of a type that numpy lacks: not known
        return None


def fold(node: ir.Node, opset: int) -> None:
    """Give a node's outputs their values, where those of all its inputs are known and the results are small."""
    if not _foldable(node):
        return
    inputs = {value.name: known(value) for value in node.inputs if value is not None}
    if any(array is None for array in inputs.values()):
        return
    try:
        from onnx.reference import ReferenceEvaluator

        evaluator = ReferenceEvaluator(ir.to_proto(node), opsets={"": opset})
        results = evaluator.run(None, inputs)
    except Exception:  # the reference lacks the operator or its version: the values stay unknown, which is safe
        return
    for value, result in zip(node.outputs, results, strict=False):
        if isinstance(result, np.ndarray | np.generic) and np.asarray(result).size <= MAX_ELEMENTS:
            value.const_value = ir.tensor(np.asarray(result), name=value.name)


def _foldable(node: ir.Node) -> bool:
    if node.domain or node.op_type in RANDOM or not node.inputs:
        return False
    if any(attr.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS) for attr in node.attributes.values()):
        return False
    if all(value.const_value is not None or not value.name for value in node.outputs):
        return False
    for value in node.outputs:
        if not value.name:
            continue
        if value.shape is None or any(not isinstance(dim, int) for dim in value.shape):
            return False
        if np.prod([dim for dim in value.shape if isinstance(dim, int)], dtype=np.float64) > MAX_ELEMENTS:
            return False
    return True

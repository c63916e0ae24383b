"""A copy of a model in float32 in place of bfloat16, which ONNX Runtime cannot run on CPUs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx_ir as ir

BFLOAT16 = ir.DataType.BFLOAT16


def has_bfloat16(file: Path) -> bool:
    """Say whether any weight, input or output of a file is bfloat16."""
    graph = ir.load(file).graph
    return any(value.dtype == BFLOAT16 for value in (*graph.inputs, *graph.outputs, *graph.initializers.values()))


@contextmanager
def widened(file: Path) -> Iterator[Path]:
    """Write the copy into a folder that is gone afterwards."""
    model = ir.load(file)
    for graph in model.graphs():
        _widen(graph)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "wide.onnx"
        ir.save(model, copy, external_data="wide.data")
        yield copy


def _widen(graph: ir.Graph) -> None:
    for weight in graph.initializers.values():
        if weight.const_value is not None:
            weight.const_value = _wide_tensor(weight.const_value)
    for value in (*graph.inputs, *graph.outputs, *graph.initializers.values()):
        if value.dtype == BFLOAT16:
            value.dtype = ir.DataType.FLOAT
    for node in graph:
        for output in node.outputs:
            if output.dtype == BFLOAT16:
                output.dtype = ir.DataType.FLOAT
        for attribute in list(node.attributes.values()):
            _widen_attribute(node, attribute)


def _widen_attribute(node: ir.Node, attribute: ir.Attr) -> None:
    if attribute.type == ir.AttributeType.TENSOR:
        node.attributes[attribute.name] = ir.AttrTensor(attribute.name, _wide_tensor(attribute.as_tensor()))
    if attribute.name in {"to", "dtype"} and attribute.value == BFLOAT16:
        node.attributes[attribute.name] = ir.AttrInt64(attribute.name, int(ir.DataType.FLOAT))


def _wide_tensor(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    if tensor.dtype != BFLOAT16:
        return tensor
    return ir.tensor(tensor.numpy().astype(np.float32), name=tensor.name)

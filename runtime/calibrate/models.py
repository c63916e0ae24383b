"""Models to measure with, as bytes."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import helper

OPSET, IR_VERSION = 17, 8  # old enough for every ONNX Runtime that may be installed


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    weights: Sequence[onnx.TensorProto] = (),
    domains: Sequence[str] = (),
) -> bytes:
    """A model of these nodes; `domains` are those that they use besides the standard's."""
    graph = helper.make_graph(nodes, "measured", inputs, outputs, weights)
    opsets = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(domain, 1) for domain in domains)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    return bytes(model.SerializeToString())

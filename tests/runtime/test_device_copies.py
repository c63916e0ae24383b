"""Copies between host and device that ONNX Runtime inserts belong to no node, and hide none."""

import onnx
import onnx.parser

import neural_cost
from neural_cost.runtime.mapping.claims import claim_all
from neural_cost.runtime.mapping.executed import executed_graph
from neural_cost.runtime.mapping.source import source_nodes

SOURCE = """<ir_version: 8, opset_import: ["": 17]>
g (float[4, 4] x, float[4, 4] w) => (float[4, 4] z)
{
  y = MatMul(x, w)
  n = Mod <fmod: int = 1> (y, w)
  z = Relu(n)
}"""
# what runs where the device lacks Mod: the names are those that ONNX Runtime's copies give
RAN = """<ir_version: 8, opset_import: ["": 17]>
g (float[4, 4] x, float[4, 4] w) => (float[4, 4] z)
{
  x_CUDAExecutionProvider = MemcpyFromHost(x)
  w_CUDAExecutionProvider = MemcpyFromHost(w)
  y_CUDAExecutionProvider = MatMul(x_CUDAExecutionProvider, w_CUDAExecutionProvider)
  y = MemcpyToHost(y_CUDAExecutionProvider)
  n = Mod <fmod: int = 1> (y, w)
  n_CUDAExecutionProvider = MemcpyFromHost(n)
  z_CUDAExecutionProvider = Relu(n_CUDAExecutionProvider)
  z = MemcpyToHost(z_CUDAExecutionProvider)
}"""


def test_each_node_has_its_kernel_and_copies_have_none(tmp_path):
    """Five copies, and MatMul, Mod and Relu, which are nodes 0, 1 and 2."""
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(SOURCE), file)
    ran = onnx.parser.parse_model(RAN)
    for place, node in enumerate(ran.graph.node):
        node.name = f"node{place}"
    report = neural_cost.analyze(file)
    claims = claim_all(executed_graph(ran.graph), source_nodes(report.nodes))
    found = [(claim.node.op_type, list(claim.places), claim.inserted) for claim in claims]
    assert found == [
        ("MemcpyFromHost", [], True),
        ("MemcpyFromHost", [], True),
        ("MatMul", [0], False),
        ("MemcpyToHost", [], True),
        ("Mod", [1], False),
        ("MemcpyFromHost", [], True),
        ("Relu", [2], False),
        ("MemcpyToHost", [], True),
    ]

"""Every rule on ONNX's own node tests, with the shapes they record: none crashes, and MACs are the textbook's."""

import warnings
from functools import cache

import numpy as np
import onnx
import pytest

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.registry import lookup
from tests.true_macs import FORMULAS, TrueTensor, Work

ONNX_NAMES = {"float8_e4m3fn": "float8e4m3fn", "float8_e5m2": "float8e5m2", "object": "string"}


@cache
def cases() -> list:
    """ONNX's tests of one node. Making them divides by zero and overflows on purpose."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [case for case in collect_testcases(None) if len(case.model.graph.node) == 1]


def node_of(case) -> Node:
    """Build the view that a rule gets: recorded shapes and types, and the values of small integer inputs."""
    graph = case.model.graph
    inputs, outputs = case.data_sets[0]
    arrays = {value.name: array for value, array in zip(graph.input, inputs, strict=True)}
    made = {value.name: array for value, array in zip(graph.output, outputs, strict=True)}
    (node,) = graph.node
    versions = {opset.domain: opset.version for opset in case.model.opset_import}
    return Node(
        node.op_type,
        [tensor_of(name, arrays.get(name), known=True) for name in node.input],
        [tensor_of(name, made.get(name)) for name in node.output],
        {attribute.name: plain(onnx.helper.get_attribute_value(attribute)) for attribute in node.attribute},
        domain=node.domain,
        version=versions.get(node.domain, 1),
    )


def tensor_of(name: str, array, *, known: bool = False) -> Tensor | None:
    if not name:
        return None
    if isinstance(array, onnx.TensorProto):
        array = onnx.numpy_helper.to_array(array)
    if not isinstance(array, np.ndarray | np.generic):
        return Tensor(name, "sequence(float32)", None, "it is no tensor")
    dtype = ONNX_NAMES.get(str(array.dtype), str(array.dtype))
    value = np.asarray(array) if known and array.dtype.kind in "iu" and array.size <= 64 else None
    return Tensor(name, dtype, array.shape, value=value)


def plain(value):
    if isinstance(value, list):
        return [plain(element) for element in value]
    return value.decode() if isinstance(value, bytes) else value


def cost_or_unknown(case) -> tuple[Node, Cost | None]:
    node = node_of(case)
    rule = lookup(node.domain, node.op_type, node.version)
    try:
        return node, rule.function(node) if rule else None
    except Unknown:
        return node, None


def test_no_rule_crashes():
    costed = [node.op_type for node, cost in map(cost_or_unknown, cases()) if cost]
    assert len(set(costed)) > 150  # else this test would pass on an empty registry


def test_macs_of_contractions_are_the_textbook_ones():
    wrong = {
        (node.op_type, tuple(tensor and tensor.dims for tensor in node.inputs)): (cost.macs, textbook_macs(node))
        for node, cost in contractions()
        if cost and cost.macs != textbook_macs(node)
    }
    assert wrong == {}


@cache
def contractions() -> list[tuple[Node, Cost | None]]:
    nodes = ((case, case.model.graph.node[0]) for case in cases())
    return [cost_or_unknown(case) for case, node in nodes if (node.domain, node.op_type) in FORMULAS]


def textbook_macs(node: Node) -> int:
    sides = (node.inputs, node.outputs)
    inputs, outputs = ([tensor and TrueTensor(tensor.dtype, tensor.dims) for tensor in side] for side in sides)
    attributes = {name: value.encode() if isinstance(value, str) else value for name, value in node.attributes.items()}
    return FORMULAS[node.domain, node.op_type](Work(inputs, outputs, attributes))


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose", "MatMul", "Einsum", "LSTM", "GRU", "RNN", "Attention"])
def test_each_contraction_is_among_them(op_type):
    assert any(cost and cost.macs and node.op_type == op_type for node, cost in contractions())

"""Model-local functions: costed at each call, with the calls that a node came through."""

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.analyzer.functions import MAX_INLINED_NODES

NESTED = """<ir_version: 10, opset_import: ["": 20, "my": 1]>
g (float[2, 3] x) => (float[2, 3] y) <float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}> {
    [first] a = my.block(x, w)
    [second] b = my.block(a, w)
    y = my.twice(b)
}
<domain: "my", opset_import: ["": 20, "my": 1]>
block (x, w) => (y) { p = MatMul(x, w)  [inner] y = my.twice(p) }
<domain: "my", opset_import: ["": 20]>
twice (x) => (y) { y = Add(x, x) }
"""
PRODUCT, ROW = 2 * 3 * 3, 2 * 3


@pytest.fixture
def report(tmp_path):
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(NESTED), file)
    return neural_cost.analyze(file)


def test_a_function_costs_at_each_call(report):
    assert report.totals.complete
    assert report.totals.macs == 2 * PRODUCT
    assert report.totals.other_flops == 3 * ROW
    assert report.totals.parameters == 3 * 3


def test_each_node_knows_its_calls(report):
    calls = [(node.op_type, [*node.source.calls]) for node in report.nodes]
    assert calls == [
        ("MatMul", [("my::block", "first")]),
        ("Add", [("my::block", "first"), ("my::twice", "inner")]),
        ("MatMul", [("my::block", "second")]),
        ("Add", [("my::block", "second"), ("my::twice", "inner")]),
        ("Add", [("my::twice", "twice_2")]),
    ]


def test_functions_that_multiply_without_end_are_refused(tmp_path):
    levels = [
        f'<domain: "my", opset_import: ["": 20, "my": 1]> f{i} (x) => (y) {{ a = my.f{i + 1}(x) y = my.f{i + 1}(a) }}'
        for i in range(30)
    ]
    text = """<ir_version: 10, opset_import: ["": 20, "my": 1]> g (float[2] x) => (float[2] y) { y = my.f0(x) }
    LEVELS <domain: "my", opset_import: ["": 20]> f30 (x) => (y) { y = Relu(x) }""".replace("LEVELS", "\n".join(levels))
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), file)
    with pytest.raises(neural_cost.ModelError, match=f"{MAX_INLINED_NODES:,}"):
        neural_cost.analyze(file)

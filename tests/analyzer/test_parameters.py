"""Which constants are parameters, and how many: small models, by hand."""

import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

import neural_cost


def totals_of(model, tmp_path):
    file = tmp_path / "model.onnx"
    onnx.save(model, file)
    return neural_cost.analyze(file).totals


def text(body):
    return onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>\n' + body)


CASES = {
    # the same six elements under two names are one weight
    "identity": (
        """g (float[2, 3] x) => (float[2, 3] y) <float[3] w = {1, 2, 3}> {
            v = Identity(w) a = Add(x, w) y = Mul(a, v) }""",
        3,
        3 * 4,
    ),
    # an embedding, and its transpose as the output layer
    "tied": (
        """g (int64[1] i) => (float[1, 2] y) <float[2, 3] w = {1, 2, 3, 4, 5, 6}> {
            e = Gather(w, i) t = Transpose(w) y = MatMul(e, t) }""",
        2 * 3,
        2 * 3 * 4,
    ),
    # a quantized weight is stored in bytes; its scale is none
    "dequantized": (
        """g (float[1, 2] x) => (float[1, 3] y) <int8[2, 3] w = {1, 2, 3, 4, 5, 6}, float s = {0.5}> {
            d = DequantizeLinear(w, s) y = MatMul(x, d) }""",
        2 * 3,
        2 * 3 * 1,
    ),
    "integer product": (
        """g (uint8[1, 2] x) => (int32[1, 3] y)
            <int8[2, 3] w = {1, 2, 3, 4, 5, 6}, uint8 zx = {0}, int8[3] zw = {0, 0, 0}> {
            y = MatMulInteger(x, w, zx, zw) }""",
        2 * 3,
        2 * 3,
    ),
    # a shape, an index and a scalar factor are no weights
    "none": (
        """g (float[2, 3] x) => (float[2] y) <int64[2] s = {3, 2}, int64 i = {0}, float[1] f = {2}> {
            r = Reshape(x, s) m = Mul(r, f) y = Gather(m, i) }""",
        0,
        0,
    ),
}


@pytest.mark.parametrize(("body", "elements", "stored"), CASES.values(), ids=CASES)
def test_parameters(body, elements, stored, tmp_path):
    totals = totals_of(text(body), tmp_path)
    assert totals.complete
    assert (totals.parameters, totals.parameter_bytes) == (elements, stored)


def test_packed_parameters_count_each(tmp_path):
    """MatMulNBits packs two weights into a byte: N x K of them in N x K / 2 bytes."""
    columns, inner, block = 8, 32, 32
    node = helper.make_node(
        "MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", N=columns, K=inner, bits=4, block_size=block
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, inner])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, columns])],
        [
            helper.make_tensor("w", TensorProto.UINT8, [columns, 1, block // 2], bytes(columns * block // 2), raw=True),
            helper.make_tensor("s", TensorProto.FLOAT, [columns, 1], [1.0] * columns),
        ],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    totals = totals_of(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path)
    assert (totals.parameters, totals.parameter_bytes) == (columns * inner, columns * inner // 2)

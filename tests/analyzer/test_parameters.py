"""Which constants are parameters, and how many: small models, by hand."""

import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper

import neural_cost
from neural_cost.analyzer.parameter_inputs import OTHER


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
    # a quantized bias is a vector of bytes; scales are none, many or one
    "quantized vector": (
        """g (uint8[1, 3] x) => (uint8[1, 3] y)
            <int8[3] b = {1, 2, 3}, float[1] s = {1}, uint8 z = {0}, int8 zb = {0}> {
            y = com.microsoft.QLinearAdd(x, s, z, b, s, zb, s, z) }""",
        3,
        3,
    ),
    # zeros for a fixed batch of 2 are a state and no weight, as they stand or through an Expand to the size they have
    "initial states": (
        """g (float[5, 2, 3] x) => (float[5, 1, 2, 1] y) <float[1, 4, 3] w = {0,0,0,0,0,0,0,0,0,0,0,0},
            float[1, 4, 1] r = {0,0,0,0}, float[1, 2, 1] h = {0, 0}, int64[3] s = {1, 2, 1}> {
            c = Expand(h, s) y = LSTM <hidden_size = 1> (x, w, r, "", "", h, c) }""",
        4 * 3 + 4,
        4 * (4 * 3 + 4),
    ),
    # one state that is handed to every entry of the batch is learned
    "learned state": (
        """g (float[5, 4, 3] x) => (float[5, 1, 4, 2] y) <float[1, 2, 3] w = {0, 0, 0, 0, 0, 0},
            float[1, 2, 2] r = {0, 0, 0, 0}, float[1, 1, 2] h = {0, 0}, int64 one = {1},
            int64[1] zero = {0}, int64[1] first = {1}, int64[1] last = {2}> {
            i = Identity(x) b = Shape(i) n = Gather <axis = 0> (b, one) u = Unsqueeze(n, zero)
            t = Concat <axis = 0> (first, u, last) e = Expand(h, t) y = RNN <hidden_size = 2> (x, w, r, "", "", e) }""",
        2 * 3 + 2 * 2 + 2,
        4 * (2 * 3 + 2 * 2 + 2),
    ),
    # frequencies of a rotary embedding, made at export: float positions would make them learned features
    "angles": (
        """g (int64[5] p, float[1, 4] f) => (float[5, 4] y) <float[2] w = {1, 0.1}, int64[1] one = {1}> {
            pos = Cast <to = 1> (p) col = Unsqueeze(pos, one) angle = Mul(col, w)
            both = Concat <axis = 1> (angle, angle) c = Cos(both) y = Mul(c, f) }""",
        0,
        0,
    ),
    "angles of a batch": (
        """g (int64[3, 1, 5] p, float[3, 2, 1] x) => (float[3, 2, 5] y)
            <float[2] w = {1, 0.1}, int64[2] a = {0, 2}> {
            to = Shape(x) column = Unsqueeze(w, a) every = Expand(column, to) pos = Cast <to = 1> (p)
            angle = MatMul(every, pos) y = Sin(angle) }""",
        0,
        0,
    ),
    # cosines and sines by position, made at export, of which a rotary operator takes some rows
    "rows of angles": (
        """g (float[1, 2, 1, 4] x, int64[1, 1] p) => (float[1, 2, 1, 4] y)
            <float[3, 2] cos = {1, 2, 3, 4, 5, 6}, float[3, 2] sin = {1, 2, 3, 4, 5, 6}> {
            c = Gather(cos, p) s = Gather(sin, p) y = RotaryEmbedding(x, c, s) }""",
        0,
        0,
    ),
    # a token that each image of a batch starts with; one element only fills
    "expanded": (
        """g (float[3, 2] x) => (float[3, 2] y) <float[1, 2] token = {1, 2}, float[1] zero = {0}> {
            to = Shape(x) every = Expand(token, to) fill = Expand(zero, to) y = Add(every, fill) }""",
        2,
        2 * 4,
    ),
    "learned features": (
        """g (float[5, 1] t) => (float[5, 2] y) <float[2] w = {1, 0.1}> { angle = Mul(t, w) y = Sin(angle) }""",
        2,
        2 * 4,
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


# norms' own weights, which their operators call scale
LEARNED_SCALES = {
    ("GatedRMSNorm", 1), ("EngramGate", 3), ("EngramGate", 4), ("EngramGate", 5), ("HyperConnectionLowRankMix", 1),
    ("RMSNormRotary", 1), ("BranchwiseRMSNorm", 1), ("MatMulNBitsQkv", 2), ("MatMulNBitsMlp", 2), ("ScaledSiLU", 1),
    ("LinearAttentionGate", 2), ("QOrderedLayerNormalization", 2),
}  # fmt: skip
NO_WEIGHT = ("scale", "scales", "zero_point", "zero_points", "cos_cache", "sin_cache")


def test_no_scale_zero_point_or_rotary_table_of_onnx_runtime_is_a_parameter():
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    schemas = [schema for schema in state.get_all_operator_schema() if schema.domain == "com.microsoft"]
    named = {
        (schema.name, position)
        for schema in schemas
        for position, given in enumerate(schema.inputs)
        if given.name.lower().endswith(NO_WEIGHT)
    }
    assert len(named) > 100
    assert {(name, i) for name, i in named - LEARNED_SCALES if i not in OTHER.get(name, ())} == set()


@pytest.mark.parametrize(("bits", "packed"), [(None, 2), (4, 2), (8, 1)])  # 4 bits where none are given
def test_gathered_rows_may_be_packed(bits, packed, tmp_path):
    attributes = {"quantize_axis": 1, "block_size": 16, "gather_axis": 0} | ({} if bits is None else {"bits": bits})
    node = helper.make_node("GatherBlockQuantized", ["w", "i", "s"], ["y"], domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("i", TensorProto.INT64, [3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 16 * packed])],
        [
            helper.make_tensor("w", TensorProto.UINT8, [10, 16], bytes(160), raw=True),
            helper.make_tensor("s", TensorProto.FLOAT, [10, packed], [1.0] * 10 * packed),
        ],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    totals = totals_of(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path)
    assert (totals.parameters, totals.parameter_bytes) == (10 * 16 * packed, 10 * 16)

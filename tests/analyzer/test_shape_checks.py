"""Shapes that do not fit are refused where a user gave them, operator by operator."""

import onnx
import onnx.parser
import pytest

import neural_cost


def ones(declaration, count):
    return f"{declaration}{{{', '.join('1' * count)}}}"


# The graph takes x (2, 3, 8) as it is; the row's node does not take the shape given instead.
CONTRADICTIONS = {
    "MatMul": ("y = MatMul(x, w)", ones("float[8, 2] w = ", 16), "2x3x4"),
    "MatMul, batch": ("y = MatMul(x, w)", ones("float[2, 8, 1] w = ", 16), "3x3x8"),
    "Add": ("y = Add(x, w)", "float[8] w = {1, 1, 1, 1, 1, 1, 1, 1}", "2x3x5"),
    "GreaterOrEqual": ("b = GreaterOrEqual(x, w) y = Where(b, x, x)", "float[3, 1] w = {1, 1, 1}", "2x2x8"),
    "Concat": ("y = Concat <axis = 0> (x, w)", ones("float[1, 3, 8] w = ", 24), "2x3x9"),
    "Reshape": ("y = Reshape(x, s)", "int64[2] s = {6, 8}", "2x3x9"),
    "Split": ("y, z = Split <axis = 2> (x, s)", "int64[2] s = {5, 3}", "2x3x9"),
    "Conv": ("y = Conv(x, w)", "float[1, 3, 1] w = {1, 1, 1}", "2x4x8"),
    "ConvTranspose": ("y = ConvTranspose(x, w)", "float[3, 1, 1] w = {1, 1, 1}", "2x4x8"),
    "BatchNormalization": ("y = BatchNormalization(x, w, w, w, w)", "float[3] w = {1, 1, 1}", "2x4x8"),
    "InstanceNormalization": ("y = InstanceNormalization(x, w, w)", "float[3] w = {1, 1, 1}", "2x4x8"),
    "LayerNormalization": ("y = LayerNormalization(x, w)", ones("float[8] w = ", 8), "2x3x1"),
    "PRelu": ("y = PRelu(x, w)", "float[3, 1] w = {1, 1, 1}", "2x1x8"),
    "RNN": (
        "y, h = RNN <hidden_size = 1> (x, w, r)",
        "float[1, 1, 8] w = {1, 1, 1, 1, 1, 1, 1, 1}, float[1, 1, 1] r = {1}",
        "2x3x9",
    ),
}


def written(body, weights, folder):
    file = folder / "model.onnx"
    text = (
        f'<ir_version: 8, opset_import: ["": 17]> g (float[2, 3, 8] x) => (float[a, b, c] y) <{weights}> {{ {body} }}'
    )
    onnx.save(onnx.parser.parse_model(text), file)
    return file


@pytest.mark.parametrize(("body", "weights", "given"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_shape_that_contradicts_the_graph_is_refused(body, weights, given, tmp_path):
    file = written(body, weights, tmp_path)
    assert neural_cost.analyze(file).totals.complete
    with pytest.raises(neural_cost.DimensionError, match="contradict the graph at"):
        neural_cost.analyze(file, shapes={"x": [int(dim) for dim in given.split("x")]})

"""Dimensions that nobody gave: numbers in the counts, symbols in the record."""

from pathlib import Path

import onnx
import onnx.parser
import onnx_ir as ir
import pytest

import neural_cost
from neural_cost.analyzer.shape_mends import broadcast

MODELS = Path(__file__).parents[2] / "models"


def symbols(text, tmp_path, opset=17, **options):
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> {text}'), file)
    report = neural_cost.analyze(file, **options)
    return {
        tensor.name: None if tensor.symbols is None else [None if d is None else str(d) for d in tensor.symbols]
        for node in report.nodes
        for tensor in (*node.inputs, *node.outputs)
    }, report


FLATTENED = """g (float[batch, 3, H, W] x) => (float[n, m] y) <int64[2] s = {0, -1}> {
    p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
    y = Reshape(p, s)
}"""


def test_open_dimensions_stay_symbolic_through_windows_and_views(tmp_path):
    found, report = symbols(FLATTENED, tmp_path, dims={"H": 32, "W": 6})
    assert report.model.assumed_dims == ["batch"]
    assert found["p"] == ["batch", "3", "16", "3"]
    assert found["y"] == ["batch", str(3 * 16 * 3)]
    assert report.nodes[1].outputs[0].dims == (1, 3 * 16 * 3)


SHAPE_ARITHMETIC = """g (float[batch, seq, 8] x) => (float[a, b, c, d] y) <int64[1] zero = {0}, int64 axis = {0},
    int64[1] one = {1}, int64[1] two = {2}, int64[1] four = {4}> {
    s = Shape(x)
    n = Gather(s, zero)
    t = Gather(s, one)
    u = Mul(t, two)
    to = Concat <axis = 0> (n, u, two, two)
    y = Reshape(x, to)
}"""


def test_shape_arithmetic_keeps_symbols(tmp_path):
    found, _ = symbols(SHAPE_ARITHMETIC, tmp_path)
    assert found["y"] == ["batch", "2*seq", "2", "2"]


def test_nameless_and_odd_names_are_the_files_own(tmp_path):
    file = tmp_path / "model.onnx"
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[N, M] x) => (float[N, M] y) {y = Relu(x)}'
    )
    dims = model.graph.input[0].type.tensor_type.shape.dim
    dims[0].dim_param = "batch size (max)"
    dims[1].Clear()
    onnx.save(model, file)
    report = neural_cost.analyze(file)
    assert report.model.assumed_dims == ["batch size (max)", "x:1"]
    assert report.to_dict()["nodes"][0]["outputs"][0]["symbolic_shape"] == ["batch size (max)", "x:1"]


def test_bound_dimensions_leave_no_symbols(tmp_path):
    found, report = symbols(FLATTENED, tmp_path, dims={"batch": 2, "H": 4, "W": 4})
    assert report.model.assumed_dims == []
    assert set(found.values()) == {None}


def test_of_two_symbols_that_broadcast_the_larger_holds(tmp_path):
    """Either may be 1; upstream takes the first."""
    text = "g (float[one, 4] x, float[many, 4] z) => (float[k, 4] y) { y = Add(x, z) }"
    found, _ = symbols(text, tmp_path)
    assert found["y"] == ["Max(many, one)", "4"]
    first, second = ir.SymbolicDim("one"), ir.SymbolicDim("many")
    assert broadcast.theirs(first, second) == first, "mended upstream: drop shape_mends/broadcast.py"


@pytest.mark.parametrize("family", ["dnn", "cnn", "rnn", "lstm", "transformer"])
def test_every_shape_of_the_families_is_right_at_any_batch(family):
    """The symbolic shape with a number in it is the shape found with that number from the start."""
    file = MODELS / f"{family}.onnx"
    at = 7
    bound = {t.name: t.dims for node in neural_cost.analyze(file, dims={"batch": at}).nodes for t in node.outputs}
    tensors = [tensor for node in neural_cost.analyze(file).nodes for tensor in node.outputs]
    assert {tensor.name: [at_batch(dim, at) for dim in tensor.symbols or tensor.dims] for tensor in tensors} == {
        name: list(dims) for name, dims in bound.items()
    }
    assert any(tensor.symbols for tensor in tensors)


def at_batch(dim, batch):
    return dim if isinstance(dim, int | None) else int(dim.subs(dict.fromkeys(dim.free_symbols, batch)))

"""Asking a report about other sizes: evaluated, refused, or analyzed again; and where formulas hold."""

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.models import path


def written(text, tmp_path, opset=17):
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> {text}'), file)
    return file


POSITIONS = """g (float[batch, words, 2] x) => (float[a, b, c] y)
    <float[5, 2] table = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, int64[1] zero = {0}, int64[1] one = {1}> {
    s = Shape(x)  n = Gather(s, one)  rows = Slice(table, zero, n, zero)  y = Add(x, rows) }"""
WINDOW = """g (float[batch, 1, height, 6] x) => (float[a, b, c, d] y)
    <float[1, 1, 3, 3] w = {1, 1, 1, 1, 1, 1, 1, 1, 1}> {
    y = Conv(x, w) }"""
HALVED = """g (float[1, 1, height, 4] x) => (float[a, b, c, d] y) <float[4] s = {1, 1, 2, 1}> {
    h = MaxPool <kernel_shape = [2, 1], strides = [2, 1]> (x)  u = Resize(h, , s)  y = Add(u, x) }"""


def test_at_gives_the_totals_of_an_analysis():
    report = neural_cost.analyze(path("transformer"))
    for batch in (1, 16, 77):
        assert report.at(batch=batch) == neural_cost.analyze(path("transformer"), dims={"batch": batch}).totals
    assert report.at() == report.totals
    assert report.at({"batch": 3}).macs == 3 * report.totals.macs


def test_at_takes_names_that_are_no_python_names(tmp_path):
    file = written("g (float[N, 4] x) => (float[a, 4] y) { y = Relu(x) }", tmp_path)
    model = onnx.load(file)
    model.graph.input[0].type.tensor_type.shape.dim[0].Clear()
    onnx.save(model, file)
    assert neural_cost.analyze(file).at({"x:0": 5}).other_flops == 5 * 4


def test_at_refuses_what_the_model_lacks_and_what_contradicts_it(tmp_path):
    report = neural_cost.analyze(written(POSITIONS, tmp_path))
    assert report.at(batch=2, words=5).other_flops == 2 * 5 * 2
    with pytest.raises(neural_cost.DimensionError, match='no open dimension "bacth"'):
        report.at(bacth=2)
    with pytest.raises(neural_cost.DimensionError, match="contradict the graph at Add node"):
        report.at(words=6)
    with pytest.raises(neural_cost.DimensionError, match="whole number"):
        report.at(words=-1)


def test_at_asks_again_where_there_is_no_formula(tmp_path):
    """A branch that depends on a size has no formula; a dimension that was given has none either."""
    text = """g (float[n, 2] x) => (float[a, 2] y) <int64[1] zero = {0}, int64[1] four = {4}> {
        s = Shape(x)  n = Gather(s, zero)  small = Less(n, four)  c = Squeeze(small)
        y = If(c) <then_branch = t () => (float[d, 2] yt) { yt = Exp(x) },
                   else_branch = e () => (float[f, 2] ye) { z = Add(x, x)  ye = Mul(z, x) }> }"""
    file = written(text, tmp_path)
    report = neural_cost.analyze(file)
    for rows in (1, 3, 4, 9):
        assert report.at(n=rows) == neural_cost.analyze(file, dims={"n": rows}).totals
    given = neural_cost.analyze(path("cnn"), dims={"batch": 2})
    assert given.at(batch=4).macs == 2 * given.totals.macs


def test_the_range_of_a_table_of_positions(tmp_path):
    ranges = neural_cost.analyze(written(POSITIONS, tmp_path)).ranges
    assert (ranges["words"].least, ranges["words"].most) == (1, 5)
    assert "do not broadcast" in ranges["words"].above
    assert (ranges["batch"].least, ranges["batch"].most) == (1, None)


def test_a_window_that_one_pixel_does_not_fill_takes_the_least_that_does(tmp_path):
    report = neural_cost.analyze(written(WINDOW, tmp_path))
    assert report.model.dims == {"batch": 1, "height": 3}
    assert report.model.assumed_dims == ["batch", "height"]
    assert report.totals.macs == 1 * 4 * 9
    assert report.at(height=10).macs == 8 * 4 * 9
    assert report.ranges["height"].least == 3
    assert "window is larger" in report.ranges["height"].below
    with pytest.raises(neural_cost.DimensionError, match="window is larger"):
        neural_cost.analyze(written(WINDOW, tmp_path), dims={"height": 2})


def test_sizes_that_do_not_fit_in_between_are_told(tmp_path):
    report = neural_cost.analyze(written(HALVED, tmp_path))
    assert report.ranges["height"].gap.startswith("3: Add")
    assert report.at(height=6).complete
    with pytest.raises(neural_cost.DimensionError, match="Add"):
        report.at(height=7)


def test_formulas_are_in_the_json_where_dimensions_are_open(tmp_path):
    data = neural_cost.analyze(written(WINDOW, tmp_path)).to_dict()
    assert data["formulas"]["macs"] == "batch*(36*height - 72)"
    assert data["formulas"]["ranges"]["height"]["least"] == 3
    assert data["nodes"][0]["formulas"]["macs"] == "36*batch*(height - 2)"
    assert "formulas" not in neural_cost.analyze(path("cnn"), dims={"batch": 1}).to_dict()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda n, m: 5, 5),
        (lambda n, m: -5, 0),
        (lambda n, m: n + 1, "n + 1"),
        (lambda n, m: n - 3, "Max(0, n - 3)"),
        (lambda n, m: 8 - 2 * m(4, n), "8 - 2*Min(4, n)"),
        (lambda n, m: 7 - 2 * m(4, n), "Max(0, 7 - 2*Min(4, n))"),
        (lambda n, m: n - m(n, 3 * n), "0"),
    ],
)
def test_what_cannot_be_less_than_zero_stays_as_it_is(make, text):
    import sympy

    from neural_cost.analyzer.expressions import at_least_zero

    found = at_least_zero(make(sympy.Symbol("n", integer=True, positive=True), sympy.Min))
    assert (found if isinstance(found, int) else str(found)) == text


STRIDED = """g (float[1, 1, width] x) => (float[a, b, c] y) <float[1, 1, 3] w = {1, 1, 1}> {
    p = MaxPool <kernel_shape = [2], strides = [2]> (x)  y = Conv <strides = [2]> (p, w) }"""


def test_roundings_in_a_row_are_one(tmp_path):
    """(width - 2) // 2 + 1 pooled; of n, (n - 3) // 2 + 1 taken, which is (width - 6) // 4 + 1."""
    report = neural_cost.analyze(written(STRIDED, tmp_path))
    assert str(report.nodes[1].outputs[0].symbols[2]) == "floor(width/4 - 3/2) + 1"
    assert str(report.formulas.nodes[1]["macs"]) == "3*floor((width - 6)/4) + 3"
    for width in range(6, 40):
        pooled = (width - 2) // 2 + 1
        assert report.at(width=width).macs == 3 * ((pooled - 3) // 2 + 1)


def test_a_graph_that_fits_one_size_is_taken_at_it(tmp_path):
    """It fits 13 alone."""
    rows = ", ".join("1" * 26)
    text = f"g (float[words, 2] x) => (float[a, 2] y) <float[13, 2] w = {{{rows}}}> {{ y = Concat <axis = 1> (x, w) }}"
    report = neural_cost.analyze(written(text, tmp_path))
    assert report.totals.complete
    assert (report.ranges["words"].least, report.ranges["words"].most) == (13, 13)
    assert report.at(words=13) == report.totals


def test_a_graph_that_fits_no_size_has_no_range(tmp_path):
    """It wants 13 and 14: no range is made up around what is taken for the size."""
    weights = ", ".join(f"float[{n}, 2] w{n} = {{{', '.join('1' * 2 * n)}}}" for n in (13, 14))
    text = f"""g (float[words, 2] x) => (float[a, 4] y, float[b, 4] z) <{weights}> {{
        y = Concat <axis = 1> (x, w13)  z = Concat <axis = 1> (x, w14) }}"""
    report = neural_cost.analyze(written(text, tmp_path))
    assert not report.totals.complete
    assert report.ranges == {}


def test_products_of_dequantized_tensors_are_told(tmp_path):
    text = """g (uint8[2, 3] x, float[2, 3] z) => (float[2, 4] y, float[2, 4] v)
        <int8[3, 4] w = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, float s = {0.5}> {
        a = DequantizeLinear(x, s)  b = DequantizeLinear(w, s)  y = MatMul(a, b)  v = MatMul(z, b) }"""
    (note,) = [each for each in neural_cost.analyze(written(text, tmp_path)).notes if "dequantized" in each]
    assert note.startswith("1 products")

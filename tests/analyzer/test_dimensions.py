"""Dimensions: derived ones, of size 0, and what they do to the counts."""

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.analyzer.derived_dims import in_symbols, names_in, size_of

# a decoder's step: keys of earlier tokens, this call's, and a mask over both
ATTENDING = """<ir_version: 8, opset_import: ["": 17]> g
    (float[batch, seq, 8] q, float[batch, past, 8] old, float[batch, seq, X] mask)
    => (float[a, b, c] y, float[a, d, e] k) {
    k = Concat <axis = 1> (old, q)
    t = Transpose <perm = [0, 2, 1]> (k)
    s = MatMul(q, t)
    m = Add(s, mask)
    y = MatMul(m, k)
}"""


def decoder(tmp_path, name="past + seq"):
    model = onnx.parser.parse_model(ATTENDING)
    model.graph.input[2].type.tensor_type.shape.dim[2].dim_param = name
    onnx.save(model, tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def test_a_dimension_that_computes_with_others_follows_them(tmp_path):
    report = neural_cost.analyze(decoder(tmp_path), dims={"batch": 2, "seq": 3, "past": 5})
    assert report.model.assumed_dims == []
    assert report.model.dims == {"batch": 2, "seq": 3, "past": 5, "past + seq": 8}
    assert report.totals.macs == 2 * (2 * 3 * 8 * (5 + 3))  # q k' and s k


def test_it_is_a_symbol_where_its_parts_are(tmp_path):
    report = neural_cost.analyze(decoder(tmp_path), dims={"seq": 3})
    assert report.model.assumed_dims == ["batch", "past"]
    assert report.model.dims["past + seq"] == 1 + 3
    mask = next(node for node in report.nodes if node.op_type == "Add").inputs[1]
    assert (mask.dims, [str(dim) for dim in mask.symbols]) == ((1, 3, 4), ["batch", "3", "past + 3"])


def test_it_can_be_given_itself(tmp_path):
    report = neural_cost.analyze(decoder(tmp_path), dims={"seq": 3, "past": 5, "past + seq": 8})
    assert report.totals.complete
    with pytest.raises(neural_cost.DimensionError, match="do not broadcast"):
        neural_cost.analyze(decoder(tmp_path), dims={"seq": 3, "past": 5, "past + seq": 7})


@pytest.mark.parametrize("name", ["past + other", "total", "past-", "f(past)", "past.x", "past + 'a'", "past ** 9"])
def test_other_names_are_names(name, tmp_path):
    report = neural_cost.analyze(decoder(tmp_path, name), dims={"seq": 1, "past": 5})
    assert report.model.assumed_dims == ["batch", name]


def test_a_first_call_has_no_past(tmp_path):
    report = neural_cost.analyze(decoder(tmp_path), dims={"batch": 1, "seq": 6, "past": 0})
    assert report.totals.complete
    assert report.totals.macs == 2 * (6 * 8 * 6)


@pytest.mark.parametrize(
    ("text", "names", "size"),
    [
        ("a + 1", {"a"}, 8),
        ("2*(a - b)//3", {"a", "b"}, 2),
        ("a // 0", {"a"}, None),
        ("a + c", {"a", "c"}, None),
        ("a", None, 7),
        ("a if b else a", None, None),
        ("(" * 150 + "a" + ")" * 49, None, None),
    ],
)
def test_arithmetic_of_names(text, names, size):
    assert names_in(text) == names
    assert size_of(text, {"a": 7, "b": 4}) == size


def test_names_are_put_in_for_others():
    assert in_symbols("a + 2*b", {"a": "open_0", "b": 5}) == "open_0 + 2 * 5"


def test_an_axis_of_a_named_dimension_is_that_dimension_everywhere(tmp_path):
    file = decoder(tmp_path)
    report = neural_cost.analyze(file, dims={"q:0": 2, "seq": 3, "past": 5})
    assert report.model.dims["batch"] == 2
    assert "q:0" not in report.model.dims
    assert report.totals == neural_cost.analyze(file, dims={"batch": 2, "seq": 3, "past": 5}).totals
    with pytest.raises(neural_cost.DimensionError, match='"batch" was given as 2 and as 4'):
        neural_cost.analyze(file, dims={"q:0": 2, "batch": 4})


@pytest.mark.parametrize("option", [{"causal": "Half"}, {"data_dependent": "uper"}])
def test_a_mistyped_choice_is_refused(option, tmp_path):
    with pytest.raises(neural_cost.NeuralCostError, match="it is '"):
        neural_cost.analyze(decoder(tmp_path), **option)

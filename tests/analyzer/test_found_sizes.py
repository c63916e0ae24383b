"""Sizes that only a run finds: unknown and named, given, or taken as the largest possible."""

import onnx
import onnx.parser
import pytest

import neural_cost

HEAD = '<ir_version: 8, opset_import: ["": 17]>\n'
NONZERO = """g (float[4, 6] x) => (float[k, 8] y) <float[2, 8] w = {%s}> {
    at = NonZero(x)
    rows = Transpose(at)
    r = Cast <to = 1> (rows)
    y = MatMul(r, w)
}""" % ", ".join("1" * 16)  # noqa: UP031 - ONNX text has braces of its own


def analyzed(text, tmp_path, **options):
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + text), file)
    return neural_cost.analyze(file, **options)


def test_unbound_it_is_null_and_listed_with_its_name(tmp_path):
    report = analyzed(NONZERO, tmp_path)
    assert not report.totals.complete
    assert report.totals.macs == 0
    product = report.nodes[-1]
    assert product.macs is None
    assert '--dim "at:1=N"' in product.why
    assert product.inputs[0].dims == (None, 2)
    assert [str(dim) for dim in product.inputs[0].symbols] == ["at:1", "2"]
    assert report.to_dict()["nodes"][0]["outputs"][0]["symbolic_shape"] == [2, "at:1"]


def test_it_can_be_given(tmp_path):
    report = analyzed(NONZERO, tmp_path, dims={"at:1": 5})
    assert report.totals.complete
    assert report.totals.macs == 5 * 2 * 8
    assert report.model.dims == {"at:1": 5}
    assert report.model.assumed_dims == []


def test_the_largest_possible_is_assumed_and_said(tmp_path):
    report = analyzed(NONZERO, tmp_path, data_dependent="upper")
    assert report.totals.complete
    assert report.totals.macs == (4 * 6) * 2 * 8  # no element is zero
    assert report.model.assumed_dims == ["at:1"]


def test_what_is_known_cannot_be_given(tmp_path):
    with pytest.raises(neural_cost.DimensionError, match="at:1"):
        analyzed(NONZERO, tmp_path, dims={"at:0": 2})
    with pytest.raises(neural_cost.DimensionError, match="no open dimension"):
        analyzed(NONZERO, tmp_path, dims={"nowhere:0": 2})


LARGEST = {
    "Unique": ("y, i, v, c = Unique(x)", {"y": (24,), "i": (24,), "v": (24,), "c": (24,)}),
    "Unique, axis": ("y, i = Unique <axis = 0> (x)", {"y": (4, 6), "i": (4,)}),
    "Compress": ("y = Compress(x, b)", {"y": (24,)}),
    "Compress, axis": ("y = Compress <axis = 1> (x, b)", {"y": (4, 6)}),
    "NonMaxSuppression": ("y = NonMaxSuppression(boxes, scores, n)", {"y": (2 * 3 * 5, 3)}),  # 5 of 7 boxes
    "NonMaxSuppression, none": ("y = NonMaxSuppression(boxes, scores)", {"y": (0, 3)}),
    "Slice": ("y = Slice(x, s, s)", {"y": (4, 6)}),
}


@pytest.mark.parametrize(("body", "shapes"), LARGEST.values(), ids=LARGEST)
def test_the_largest_of_each_operator(body, shapes, tmp_path):
    inputs = "float[4, 6] x, bool[6] b, float[2, 7, 4] boxes, float[2, 3, 7] scores, int64[2] s"
    text = f"g ({inputs}) => (float[?] y) <int64 n = {{5}}> {{ {body} }}".replace("[?]", "[a, b]")
    report = analyzed(text, tmp_path, data_dependent="upper")
    assert {tensor.name: tensor.dims for tensor in report.nodes[0].outputs} == shapes


def test_sizes_and_open_dimensions_go_together(tmp_path):
    report = analyzed(NONZERO.replace("float[4, 6]", "float[batch, 6]"), tmp_path)
    assert [str(dim) for dim in report.nodes[0].outputs[0].symbols] == ["2", "at:1"]
    assert report.model.assumed_dims == ["batch"]

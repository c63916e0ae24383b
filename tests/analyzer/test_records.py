"""Records of nodes and totals: weights at each reader, calls, FLOPs by kind; and what every record can do."""

import dataclasses

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.analyzer.device_table import find_device
from neural_cost.analyzer.records import Call
from tests.analyzer.test_functions import NESTED

SHARED = """<ir_version: 8, opset_import: ["": 17]>
g (float[2, 3] x) => (float[2, 3] y) <float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}> {
    a = MatMul(x, w)
    turned = Transpose(w)
    b = MatMul(a, turned)
    y = Mul(b, b)
}"""
QUANTIZED = """<ir_version: 8, opset_import: ["": 17]>
g (float[2, 3] x) => (float[2, 4] y) <int8[3, 4] q = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, float scale = {0.5}> {
    narrow = QuantizeLinear(x, scale)
    wide = DequantizeLinear(narrow, scale)
    w = DequantizeLinear(q, scale)
    y = MatMul(wide, w)
}"""
UNKNOWN = """<ir_version: 8, opset_import: ["": 17]>
g (float[2, 3] x) => (int64[2, n] y) { y = Nothing(x) }"""


@pytest.fixture
def report_of(tmp_path):
    def report_of(text, **options):
        file = tmp_path / "model.onnx"
        onnx.save(onnx.parser.parse_model(text), file)
        return neural_cost.analyze(file, **options)

    return report_of


def test_a_shared_weight_stands_at_each_reader_and_once_in_the_totals(report_of):
    report = report_of(SHARED)
    # both products read w, the second one turned; the Transpose runs at load time
    assert [node.parameter_bytes for node in report.nodes] == [9 * 4, 0, 9 * 4, 0]
    assert [node.parameters for node in report.nodes] == [9, 0, 9, 0]
    assert (report.totals.parameters, report.totals.parameter_bytes) == (9, 9 * 4)


def test_a_dequantized_weight_has_the_bytes_that_the_file_stores(report_of):
    report = report_of(QUANTIZED)
    product = report.nodes[-1]
    assert (product.parameters, product.parameter_bytes) == (3 * 4, 3 * 4 * 1)


def test_quantizing_has_a_bucket_of_its_own(report_of):
    kinds = report_of(QUANTIZED).totals.flops_by_kind
    # QuantizeLinear, 6 elements: divide, round, and convert after a clamp of two; DequantizeLinear: convert, multiply
    assert kinds == {"quantization": 6 * 5 + 6 * 2, "contraction": 2 * 2 * 3 * 4}


def test_flops_by_kind_add_up(report_of):
    totals = report_of(NESTED).totals
    assert sum(totals.flops_by_kind.values()) == totals.flops


def test_calls_are_records(report_of):
    calls = [node.calls for node in report_of(NESTED).nodes]
    assert calls[1] == (Call("my::block", "first"), Call("my::twice", "inner"))
    assert report_of(NESTED).nodes[0].to_dict()["calls"] == [{"function": "my::block", "node": "first"}]


def test_every_part_is_data_text_and_html(report_of):
    report = report_of(SHARED, device="T4")
    for part in (report, report.model, report.totals, report.coverage, report.nodes[0], report.bounds[0]):
        assert isinstance(part.to_dict(), dict)
        assert str(part).strip()
        assert part._repr_html_().startswith("<")


def test_what_is_shown_are_attributes_by_their_names(report_of):
    report = report_of(SHARED.replace("float[2, 3]", "float[n, 3]"), device="T4")
    parts = (report.model, report.totals, report.coverage, report.nodes[0], report.bounds[0], report.formulas)
    more = (report.fits(), report.ranges["n"], report.formulas.growth[0], find_device("T4"))
    for part in (*parts, *more, *(() if report.tokens is None else (report.tokens,))):
        for line in str(part).splitlines():
            name = line.partition(":")[0]
            assert hasattr(part, name) or line == str(part), (type(part), line)
    for name in report.totals.to_dict():
        assert hasattr(report.totals, name)
    # x and y, w once; x and w, then a and w, then b twice, with what they write
    assert report.totals.traffic_bytes["compulsory"] == report.totals.compulsory_bytes == 4 * (3 + 9 + 3)
    assert f"compulsory_bytes: {4 * (3 + 9 + 3)}" in str(report.totals)


def test_records_cannot_be_changed(report_of):
    node = report_of(SHARED).nodes[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        node.macs = 0
    with pytest.raises((AttributeError, TypeError)):  # no attribute that is not a field
        node.extra = 0


def test_what_is_not_known_is_said_to_be_unknown(report_of):
    lines = str(report_of(UNKNOWN).nodes[0]).splitlines()
    assert "flops: unknown" in lines
    assert "parameters: 0" in lines


def test_a_name_is_no_markup(report_of):
    text = SHARED.replace("turned = ", "[t] turned = ")
    node = dataclasses.replace(report_of(text).nodes[1], name="<script>")
    assert "<script>" not in node._repr_html_()

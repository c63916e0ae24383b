"""The joined pipeline: compulsory traffic and bounds of whole small models, by hand."""

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.analyzer.device_table import find_device
from neural_cost.models import path

GATHER = """<ir_version: 8, opset_import: ["": 17]>
g (int64[3] ids, float[7, 5] unused) => (float[3, 4] y)
<float[100, 4] table = {ONES}> { y = Gather(table, ids) }""".replace("ONES", ", ".join(["1"] * 400))
TWICE = """<ir_version: 8, opset_import: ["": 17]>
g (float[2, 3] x) => (float[2, 3] y) <float[3] b = {1, 2, 3}> {
    a = Add(x, b)
    y = Mul(a, b)
}"""
MYSTERY = """<ir_version: 8, opset_import: ["": 17, "acme": 1]>
g (float[2, 3] x) => (float[2, 3] y) <float[3] b = {1, 2, 3}> {
    a = Add(x, b)
    y = acme.Unheard(a)
}"""


BATCH_NORM = """<ir_version: 8, opset_import: ["": 17]>
g (float[2, 3, 4, 4] x) => (float[2, 3, 4, 4] y)
<float[3] s = {1, 1, 1}, float[3] b = {0, 0, 0}, float[3] m = {0, 0, 0}, float[3] v = {1, 1, 1}> {
    y = BatchNormalization(x, s, b, m, v) }"""
SCALES = """<ir_version: 8, opset_import: ["": 17]>
g (float[2, 3] x) => (uint8[2, 3] y) <float[3] s = {1, 1, 1}, uint8[3] z = {0, 0, 0}, float two = {2}> {
    t = Pow(x, two)
    y = QuantizeLinear <axis = 1> (t, s, z) }"""
MASK = """<ir_version: 8, opset_import: ["": 17]>
g (float[2, 2] x) => (float[2, 2] y)
<bool[2, 4] mask = {1, 1, 1, 1, 0, 0, 0, 0}, float low = {-9},
int64[1] from = {0}, int64[1] to = {2}, int64[1] at = {1}> {
    part = Slice(mask, from, to, at)
    y = Where(part, x, low) }"""


def report_of(text, tmp_path, **options):
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), file)
    return neural_cost.analyze(file, **options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            GATHER,
            3 * 8 + 3 * 4 * 4 + 3 * 4 * 4,
        ),  # ids, the three rows they take, y; nothing reads `unused`
        (TWICE, 2 * 3 * 4 + 3 * 4 + 2 * 3 * 4),  # x, b once though two nodes read it, y
        (BATCH_NORM, (2 * 96 + 4 * 3) * 4),  # x and y, scale, bias, mean and variance
        (SCALES, 2 * 3 * 4 + 3 * 4 + 3 + 2 * 3),  # x, scales, zero points, y; a kernel may hold the exponent
        (MASK, 2 * 2 * 4 + 2 * 2 + 2 * 2 * 4),  # x, the part of the mask that is kept, y
        (MYSTERY, None),  # what an operator without a rule moves is not known
    ],
    ids=["gather", "shared weight", "running statistics", "scales", "mask", "unknown operator"],
)
def test_compulsory_bytes(text, expected, tmp_path):
    assert report_of(text, tmp_path).to_dict()["totals"]["traffic_bytes"]["compulsory"] == expected


def test_running_statistics_are_traffic_and_no_parameters(tmp_path):
    report = report_of(BATCH_NORM, tmp_path)
    assert report.totals.parameters == 3 + 3
    assert report.totals.compulsory_bytes == report.totals.per_op_bytes


def test_compulsory_bytes_of_a_family():
    totals = neural_cost.analyze(path("cnn"), dims={"batch": 16}).to_dict()["totals"]
    # folded weights, the image, ten classes for each of 16; in bytes of float32
    assert totals["traffic_bytes"]["compulsory"] == 4 * (76_938 + 16 * 3 * 32 * 32 + 16 * 10)


def test_bounds_by_hand(tmp_path):
    device = find_device("T4")
    report = report_of(TWICE, tmp_path, device=device)
    (bound,) = report.bounds
    memory = device.memory_bandwidth
    assert bound.device == device.name
    # six adds and six multiplies take less than the bytes: x and b in and a out, then a and b in and y out
    assert bound.floor_s == pytest.approx((24 + 12 + 24) / memory)
    assert bound.per_op_s == pytest.approx(2 * (24 + 12 + 24) / memory)
    assert bound.limited_by == "memory"
    assert [node["bound_s"] for node in report.to_dict()["nodes"]] == pytest.approx([(24 + 12 + 24) / memory] * 2)


def test_what_has_no_cost_has_no_bound(tmp_path):
    report = report_of(MYSTERY, tmp_path, device="T4")
    assert report.to_dict()["nodes"][1]["bound_s"] is None
    assert report.bounds[0].floor_s > 0  # of what is known, which is still a lower bound


def test_no_device_no_bound(tmp_path):
    data = report_of(TWICE, tmp_path).to_dict()
    assert data["bounds"] == []
    assert "bound_s" not in data["nodes"][0]


def test_unknown_device_is_an_error(tmp_path):
    with pytest.raises(neural_cost.DeviceError, match="nosuch"):
        report_of(TWICE, tmp_path, device="nosuch")


def test_the_report_says_which_part_of_causal_attention_it_counts(tmp_path):
    text = """<ir_version: 10, opset_import: ["": 23]> g (float[2, 4, 3, 8] q) => (float[2, 4, 3, 8] y) {
        y = Attention <is_causal = 1> (q, q, q) }"""
    file = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), file)
    full, half = neural_cost.analyze(file), neural_cost.analyze(file, causal="half")
    assert (full.totals.macs, half.totals.macs) == (2 * 4 * 9 * 16, 2 * 4 * 6 * 16)
    assert [r.to_dict()["convention"]["causal_attention"] for r in (full, half)] == ["full", "half"]
    assert "in full" in full.notes[0]

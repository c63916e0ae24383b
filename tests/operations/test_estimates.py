"""Estimates of lists of operations: sums, what stays unknown, and bounds."""

from __future__ import annotations

import json

import pytest

import neural_cost
from neural_cost import HardwareSpec, Operation, OptionError, estimate_operations
from neural_cost.models import NAMES, path
from neural_cost.operations.from_report import operations_of

FIRST = Operation("first", "linear", ((16, 128), (128, 64)), (16, 64), 4)
SECOND = Operation("second", "linear", ((16, 64), (64, 10)), (16, 10), 4)
MACS = 16 * 128 * 64 + 16 * 64 * 10
WEIGHTS = 128 * 64 + 64 * 10


def test_a_chain_moves_its_weights_and_its_ends_at_least():
    found = estimate_operations([FIRST, SECOND])
    assert (found.macs, found.flops, found.parameters) == (MACS, 2 * MACS, WEIGHTS)
    assert found.traffic_bytes == 4 * (16 * 128 + WEIGHTS + 2 * 16 * 64 + 16 * 10)
    assert found.totals.compulsory_bytes == 4 * (16 * 128 + WEIGHTS + 16 * 10)
    assert found.intensity == 2 * MACS / found.traffic_bytes
    assert found.totals.activation_peak_bytes is None  # no one says what is alive when


def test_bounds_by_hand():
    slow = HardwareSpec("slow", peak_flops=1e9, memory_bandwidth=1e12)
    thin = HardwareSpec("thin", peak_flops=1e15, memory_bandwidth=1e6)
    found = estimate_operations([FIRST, SECOND])
    assert found.bound(slow).floor_s == pytest.approx(2 * MACS / 1e9)
    assert found.bound(slow).limited_by == "compute"
    assert found.bound(thin).floor_s == pytest.approx(4 * (16 * 128 + WEIGHTS + 16 * 10) / 1e6)
    assert found.bound(thin).per_op_s == pytest.approx(found.traffic_bytes / 1e6)
    assert found.bound("A100").device.startswith("NVIDIA A100")


def test_what_was_not_given_stays_unknown():
    found = estimate_operations([FIRST, Operation("mine", "custom", ((16, 64),), (16, 64), 4, macs=5)])
    assert not found.complete
    assert found.macs == 16 * 128 * 64
    assert found.nodes[1].macs is None
    assert found.totals.compulsory_bytes is None
    assert found.coverage.uncounted == [
        {"domain": "", "op_type": "custom", "nodes": 1, "why": "its flops are not given"}
    ]
    assert "left out: mine: its flops are not given" in str(found)
    assert ">= 131.07 K" in str(found)


def test_a_window_that_was_not_given_leaves_the_cost_unknown():
    found = estimate_operations([Operation("pool", "pooling", ((1, 3, 8, 8),), (1, 3, 4, 4), 4)])
    assert not found.complete
    assert "kernel_shape" in str(found.nodes[0].why)


def test_repeats_multiply_all_but_weights():
    loop = Operation("step", "linear", ((2, 3), (3, 5)), (2, 5), 4, repeats=7)
    found = estimate_operations([loop])
    assert (found.macs, found.parameters) == (7 * 2 * 3 * 5, 15)
    assert (found.read_bytes, found.write_bytes) == (7 * 4 * (6 + 15), 7 * 4 * 10)
    unknown = estimate_operations([Operation("step", "linear", ((2, 3), (3, 5)), (2, 5), 4, repeats=None)])
    assert (unknown.complete, unknown.macs) == (False, 0)
    assert "it is not known how often it runs" in str(unknown)


def test_types_have_peaks_of_their_own():
    half = Operation("half", "linear", ((2, 3), (3, 5)), (2, 5), 2)
    brain = Operation("brain", "linear", ((2, 3), (3, 5)), (2, 5), 2, dtype="bfloat16")
    assert estimate_operations([half, brain, brain]).totals.macs_by_type == {"float16": 30, "bfloat16": 60}


def test_nothing_is_nothing():
    found = estimate_operations([])
    assert (found.flops, found.traffic_bytes, found.intensity) == (0, 0, None)


def test_what_is_no_operation_is_told():
    with pytest.raises(OptionError, match=r"neural_cost.Operation, not a dict"):
        estimate_operations([{"kind": "linear"}])


def test_forms():
    found = estimate_operations([FIRST, SECOND])
    assert json.loads(json.dumps(found.to_dict()))["operations"][0]["name"] == "first"
    assert "<table" in found._repr_html_()
    assert found.render() == str(found)


def test_the_gap_of_an_estimate():
    found = estimate_operations([FIRST, SECOND])
    timing = neural_cost.benchmark(lambda: None, repeats=3)
    device = HardwareSpec("device", peak_flops=1e18, memory_bandwidth=1e18)
    gap = neural_cost.analyze_gap(found, timing, device)
    assert gap.floor_s == pytest.approx(4 * (16 * 128 + WEIGHTS + 16 * 10) / 1e18)
    assert gap.measured_s == timing.median_s


@pytest.mark.parametrize("name", NAMES)
def test_operations_of_a_report_cost_the_same(name):
    report = neural_cost.analyze(path(name), dims={"batch": 16})
    found = estimate_operations(operations_of(report)).totals
    same = ("macs", "flops", "special_ops", "macs_by_type", "flops_by_type", "parameters", "per_op_bytes", "complete")
    assert {each: getattr(found, each) for each in same} == {each: getattr(report.totals, each) for each in same}
    assert found.compulsory_bytes <= report.totals.compulsory_bytes  # records do not say what they share


def test_what_a_report_does_not_know_operations_do_not(tmp_path):
    import onnx.parser

    text = """<ir_version: 10, opset_import: ["": 20, "acme": 1]>
    g (float[2, 3] x) => (float[2, 3] y) { m = acme.Strange(x)  y = Relu(m) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "strange.onnx")
    operations = operations_of(neural_cost.analyze(tmp_path / "strange.onnx"))
    assert (operations[0].kind, operations[0].op, operations[0].output_shape) == ("custom", "acme::Strange", None)
    assert not estimate_operations(operations).complete


def test_arithmetic_in_two_types_is_two_operations(tmp_path):
    """A product of int8 that is rescaled in float32 cannot be one record, which has one type."""
    import onnx.parser

    text = """<ir_version: 10, opset_import: ["": 20, "com.microsoft": 1]>
    g (float[2, 3] x, uint8[3, 5] w, float s) => (float[2, 5] y) {
        y = com.microsoft.DynamicQuantizeMatMul(x, w, s) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "two.onnx")
    report = neural_cost.analyze(tmp_path / "two.onnx")
    found = estimate_operations(operations_of(report))
    assert len(report.totals.flops_by_type) == 2 == len(found.operations)
    assert found.totals.flops_by_type == report.totals.flops_by_type
    assert found.traffic_bytes == report.totals.per_op_bytes

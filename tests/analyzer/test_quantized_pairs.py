"""Bounds of dequantized products: what a runtime may compute in integers is bounded as that, and only that."""

import pytest

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.gap.analyze import analyze_gap
from tests.analyzer.gap.made import NS, ROUND, Timed, analyzed, kernel

# 1 FLOP a ns in float32, 4 in int8; bytes cost nothing that matters
DEVICE = Device(**ROUND, peaks={"float32": 1e9, "int8": 4e9}, bandwidth_curve=((0, 1e15),))
TEXT = """g (uint8[2, 3] x, float[2, 3] z) => (uint8[2, 4] q, float[2, 4] v)
    <int8[3, 4] w = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, float s = {0.5}, uint8 o = {0}> {
    a = DequantizeLinear(x, s)  b = DequantizeLinear(w, s)  y = MatMul(a, b)  q = QuantizeLinear(y, s, o)
    v = MatMul(z, b) }"""


def test_the_floor_by_hand(tmp_path):
    """24 MACs each: 48 FLOPs at 4 a ns where both operands are dequantized, at 1 where one is; the rest is free."""
    report = analyzed(TEXT, tmp_path, DEVICE)
    assert report.bounds[0].compute_s == pytest.approx((12 + 48) * NS)
    assert report.totals.macs_by_type == {"float32": 48}  # counts are of the graph as it stands


def test_a_kernel_of_integers(tmp_path):
    report = analyzed(TEXT, tmp_path, DEVICE)
    first, product, quantize, _ = (place for place, node in enumerate(report.nodes) if not node.constant)
    fused = kernel(report, [first, product, quantize], 100, "QLinearMatMul")
    assert fused.work.flops_by_type == {"int8": 48}
    alone = kernel(report, [product], 100)
    assert alone.work.flops_by_type == {"float32": 48}  # it ran in floats


def test_no_other_type_is_advised_where_integers_are_used(tmp_path):
    report = analyzed(TEXT, tmp_path, DEVICE)
    (finding,) = [each for each in report.findings if each.id == "faster-type"]
    assert [report.nodes[place].inputs[0].name for place in finding.nodes] == ["z"]


def test_kernels_in_floats_are_slower_than_the_bound_not_faster(tmp_path):
    report = analyzed(TEXT, tmp_path, DEVICE)
    places = [place for place, node in enumerate(report.nodes) if not node.constant]
    ran = [kernel(report, [place], 60) for place in places]
    gap = analyze_gap(report, Timed(240, 240), kernels=ran)
    assert not [cause for cause in gap.causes if cause.fault and cause.seconds < -1e-3 * NS]
    assert gap.floor_s + sum(cause.seconds for cause in gap.causes) == pytest.approx(240 * NS)

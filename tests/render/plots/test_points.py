"""Where points stand, and that no node and no kernel is forgotten."""

import pytest

import neural_cost
from neural_cost.models import path
from neural_cost.render.plots.points import kernel_points, node_points
from tests.render.plots.pictures import (
    BANDWIDTH,
    FATES,
    MATMUL,
    MATMUL_BYTES,
    MATMUL_FLOPS,
    kernel,
    offsets,
    report_of,
)


def test_a_node_stands_at_its_intensity_and_at_the_rate_of_its_bound(tmp_path):
    figure = neural_cost.plot(report_of(MATMUL, tmp_path))
    intensity = 65536 / 14336  # below the ridge, which is at 1e12 / 1e11 = 10
    assert (MATMUL_FLOPS, MATMUL_BYTES) == (65536, 14336)
    assert offsets(figure.axes[0]) == [(pytest.approx(intensity), pytest.approx(intensity * BANDWIDTH))]


def test_a_kernel_stands_at_the_rate_that_it_reached(tmp_path):
    report = report_of(MATMUL, tmp_path)
    (point,) = kernel_points(report, [kernel(3 * 2e-6, executions=3, bound_s=3 * 143.36e-9)]).points
    assert point.intensity == pytest.approx(65536 / 14336)
    assert point.flops_per_s == pytest.approx(65536 / 2e-6)
    assert point.lost_s == pytest.approx(3 * (2e-6 - 143.36e-9))
    assert not point.violated


def test_a_kernel_that_beats_its_bound_is_shown_so(tmp_path):
    report = report_of(MATMUL, tmp_path)
    (point,) = kernel_points(report, [kernel(100e-9)]).points  # its bound is 143.36 ns
    assert point.violated


def test_each_node_is_a_point_or_has_a_reason(tmp_path):
    found = node_points(report_of(FATES, tmp_path))
    assert [(point.name, point.flops) for point in found.points] == [("Add 0", 64)]
    assert [(point.name, point.bytes) for point in found.movers] == [("Transpose 1", 2 * 64 * 4)]
    assert {each.why: each.number for each in found.left_out} == {
        "computed at load time": 4,  # three Constants and the Expand
        "without FLOPs and bytes": 1,  # the Reshape
        "of unknown cost": 1,
    }
    assert found.number == 8


@pytest.mark.parametrize("family", ["dnn", "cnn", "rnn", "lstm", "transformer"])
def test_no_node_is_forgotten(family):
    report = neural_cost.analyze(path(family), device="T4")
    assert node_points(report).number == len(report.nodes)


def test_branches_and_loops_of_unknown_length_are_counted(tmp_path):
    text = """g (float[4] x, bool b, int64 n) => (float[4] y, float[4] z) {
        y = If(b) <then_branch = t () => (float[4] a) { a = Neg(x) },
                   else_branch = e () => (float[4] a) { s = Exp(x)  a = Add(s, x) }>
        z = Loop(n, b, x) <body = l (int64 i, bool c, float[4] p) => (bool k, float[4] q)
                           { k = Identity(c)  q = Abs(p) }>
    }"""
    report = report_of(text, tmp_path)
    found = node_points(report)
    why = {each.why: each.number for each in found.left_out}
    assert found.number == len(report.nodes) == 7
    assert why["in branches that are not counted"] == 1  # Neg: the other branch is dearer
    assert why["that run no one knows how often"] == 2  # Identity and Abs


def test_a_node_of_a_loop_has_the_work_of_all_its_executions(tmp_path):
    text = """g (float[400] x) => (float[400] z) {
        n = Constant<value = int64 {3}>()
        b = Constant<value = bool {1}>()
        z = Loop(n, b, x) <body = l (int64 i, bool c, float[400] p) => (bool k, float[400] q)
                           { k = Identity(c)  q = Abs(p) }>
    }"""
    (point,) = node_points(report_of(text, tmp_path)).points
    assert (point.name, point.flops, point.bytes) == ("Abs 1", 3 * 400, 3 * 2 * 4 * 400)
    assert point.seconds == pytest.approx(3 * 2 * 4 * 400 / BANDWIDTH)


def test_each_kernel_is_a_point_or_has_a_reason_and_its_time(tmp_path):
    kernels = [
        kernel(1e-6),
        kernel(2e-6, inserted=True, source_nodes=(), work=None, macs=None),
        kernel(3e-6, inserted=True, source_nodes=(), work=None, macs=None),
        kernel(4e-6, source_nodes=(), work=None, macs=None),
        kernel(5e-6, joined=True, work=None),
        kernel(6e-6, work=None),
        kernel(7e-6, helped=True),
        kernel(0.0),
    ]
    found = kernel_points(report_of(MATMUL, tmp_path), kernels)
    told = {each.why: (each.number, each.seconds) for each in found.left_out}
    assert told == {
        "inserted by the runtime (reorders, casts, copies)": (2, pytest.approx(5e-6)),
        "not mapped to nodes": (1, 4e-6),
        "several for the work of the same nodes": (2, pytest.approx(12e-6)),
        "of unknown cost": (1, 6e-6),
        "shorter than the clock tells": (1, 0.0),
    }
    assert found.number == len(kernels)
    assert found.seconds == pytest.approx(28e-6)

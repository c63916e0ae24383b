"""The time of a run as the sum of its kernels: by hand, from tables whose times are round."""

from __future__ import annotations

from dataclasses import replace

import pytest

import neural_cost
from neural_cost.models import path
from tests.analyzer.fusion.test_patterns import weighted
from tests.analyzer.gap.made import analyzed
from tests.analyzer.prediction.made import US, device, predicted

RELU = "g (float[4, 8] x) => (float[4, 8] y) { y = Relu(x) }"


def test_kernels_and_the_start_of_a_run(tmp_path):
    # 32 elements lie half way between 16 and 48: 2 us; and a run starts in 10 us
    found = predicted(RELU, tmp_path, {"Relu": {(16,): 1.0, (48,): 3.0}}, run_s=10 * US)
    assert found.seconds == pytest.approx(12 * US)
    assert found.complete
    assert found.expected_error == pytest.approx(0.15)
    (kernel,) = found.kernels
    assert (kernel.op_type, kernel.source_nodes, kernel.how) == ("Relu", (0,), "timed")


def test_a_product_by_its_rows_inner_size_and_columns(tmp_path):
    text = weighted("(float[4, 8] x) => (float[4, 6] y)", "y = MatMul(x, w)", w=(8, 6))
    found = predicted(text, tmp_path, {"MatMul weight": {(4, 8, 6): 7.0}, "MatMul": {(1, 4, 8, 6): 99.0}})
    assert found.seconds == pytest.approx(7 * US)
    two = "g (float[3, 4, 8] x, float[3, 8, 6] w) => (float[3, 4, 6] y) { y = MatMul(x, w) }"
    assert predicted(two, tmp_path, {"MatMul": {(3, 4, 8, 6): 5.0}}).seconds == pytest.approx(5 * US)


def test_weights_that_the_caches_do_not_hold(tmp_path):
    text = weighted("(float[4, 8] x) => (float[4, 6] y)", "y = MatMul(x, w)", w=(8, 6))
    report = analyzed(text, tmp_path)
    made = report.totals.parameter_bytes
    peak = report.totals.activation_peak_bytes
    times = {"MatMul weight": {(4, 8, 6): 7.0}}
    assert neural_cost.predict(report, device(times, cold_s=US, cache_bytes=made + peak)).cold_s == 0
    less = neural_cost.predict(report, device(times, cold_s=US, cache_bytes=made + peak - 10))
    assert less.cold_s == pytest.approx(min(made, 10) * US)


def test_an_operator_that_none_was_timed_for_is_a_guess(tmp_path):
    # 16 elements, 64 bytes in and 64 out, as an Add of 128 / 12 elements
    text = "g (float[16] x) => (float[16] y) { y = Acosh(x) }"
    found = predicted(text, tmp_path, {"Add": {(1,): 1.0, (128,): 128.0}})
    assert found.seconds == pytest.approx(128 / 12 * US)
    assert found.expected_error == 1
    assert "were not timed" in found.notes[0]
    assert found.notes[1].startswith("Acosh: nothing like it was timed")


def test_an_operator_like_none_is_named_however_short_it_seems(tmp_path):
    text = "g (float[16] x) => (float[16] y) { a = Relu(x)  y = Acosh(a) }"
    found = predicted(text, tmp_path, {"Add": {(1,): 0.001, (128,): 0.001}, "Relu": {(16,): 99.0}})
    assert found.expected_error < 0.16
    assert [note.split(":")[0] for note in found.notes] == ["Acosh"]


def test_what_is_not_known_is_left_out_and_said_to_be(tmp_path):
    text = 'g (float[4] x) => (float[4] y) { a = Relu(x)  y = "mine.own.Op" (a) }'.replace('"mine.own.Op" ', "mine.Op")
    text = '<ir_version: 10, opset_import: ["" : 20, "mine" : 1]> ' + text
    found = neural_cost.predict(analyzed(text, tmp_path), device({"Relu": {(4,): 2.0}}))
    assert not found.complete
    assert found.expected_error is None
    assert found.seconds == pytest.approx(2 * US)
    assert "1 kernels are left out" in found.notes[0]


def test_a_kind_that_was_not_timed_here_is_left_out(tmp_path):
    found = predicted(RELU, tmp_path, {"Sigmoid": {(4,): 2.0}})
    assert not found.complete
    assert found.kernels[0].seconds is None
    assert found.notes[0].startswith("the calibration of 2026-01-01 did not time Relu: `neural-cost hardware")


def test_reorders_where_packed_channels_begin_and_end(tmp_path):
    """Two convolutions of 16 channels: into the packed layout before the first, out of it after the last."""
    text = weighted(
        "(float[1, 16, 4, 4] x) => (float[1, 16, 4, 4] y)",
        "a = Conv(x, v)  y = Conv(a, w)",
        v=(16, 16, 1, 1), w=(16, 16, 1, 1),
    )  # fmt: skip
    times = {"conv 1x1": {(16, 16, 16): 4.0}, "ReorderInput": {(16, 16): 1.0}, "ReorderOutput": {(16, 16): 2.0}}
    found = predicted(text, tmp_path, times, nchwc_block=16)
    assert [kernel.op_type for kernel in found.kernels] == ["ReorderInput", "Conv", "Conv", "ReorderOutput"]
    assert found.seconds == pytest.approx(11 * US)
    assert found.inserted_s == pytest.approx(3 * US)


def test_a_convolution_of_few_channels_reads_the_file_as_it_is(tmp_path):
    text = weighted("(float[1, 3, 4, 4] x) => (float[1, 16, 2, 2] y)", "y = Conv(x, w)", w=(16, 3, 3, 3))
    times = {"first conv 3x3": {(4, 3, 16): 4.0}, "ReorderOutput": {(16, 4): 2.0}}
    found = predicted(text, tmp_path, times, nchwc_block=16)
    assert [kernel.op_type for kernel in found.kernels] == ["Conv", "ReorderOutput"]
    assert found.seconds == pytest.approx(6 * US)


def test_a_body_counts_as_often_as_it_runs(tmp_path):
    text = """g (float[4] x) => (float[4] y) {
        n = Constant <value = int64 {5}> ()  c = Constant <value = bool {1}> ()
        y = Loop (n, c, x) <body = b (int64 i, bool go, float[4] a) => (bool on, float[4] r) {
            on = Identity(go)  r = Relu(a) }> }"""
    found = predicted(text, tmp_path, {"Relu": {(4,): 2.0}, "Loop": {(1,): 1.0, (5,): 5.0}, "Reshape": {(1,): 0.0}})
    assert found.seconds == pytest.approx((5 * 2 + 5) * US)


def test_an_lstm_is_its_steps_and_the_product_of_all_inputs(tmp_path):
    report = neural_cost.analyze(path("lstm"), {"batch": 16})
    steps = [node for node in report.nodes if node.op_type == "LSTM"]
    times = {"LSTM": {(32, 16, 128): 100.0}, "MatMul weight": {(512, 128, 512): 10.0}}
    found = neural_cost.predict(report, device(times))
    cells = [kernel for kernel in found.kernels if kernel.op_type == "LSTM"]
    assert len(cells) == len(steps) > 0
    assert [kernel.kinds for kernel in cells] == [("LSTM", "MatMul weight")] * len(cells)
    assert not found.complete  # nothing else was timed


def test_a_prediction_below_the_bound_says_so(tmp_path):
    # 2 x 4 x 8 x 6 FLOPs at 1 GFLOP/s are 384 ns, and it is predicted in 0.1 us
    text = weighted("(float[4, 8] x) => (float[4, 6] y)", "y = MatMul(x, w)", w=(8, 6))
    found = predicted(text, tmp_path, {"MatMul weight": {(4, 8, 6): 0.1}})
    assert "less than the bound of" in found.notes[0]
    assert predicted(text, tmp_path, {"MatMul weight": {(4, 8, 6): 1.0}}).notes == ()
    left_out = predicted(text, tmp_path, {"Relu": {(1,): 0.1}})  # less because of what is left out, which is said
    assert not left_out.complete
    assert not any("less than the bound" in note for note in left_out.notes)


def test_a_quantized_lstm_has_its_weights_turned_round(tmp_path):
    """Its recurrent weights are (directions, hidden, gates x hidden): here 2, 8 and 32, over 5 steps of 3 features."""
    text = weighted(
        "(float[5, 1, 3] x) => (float[5, 2, 1, 8] y)",
        "y = com.microsoft.DynamicQuantizeLSTM <hidden_size = 8, direction = \"bidirectional\">"
        "(x, w, r, b, , , , , s, z, s, z)",
        w=(2, 3, 32), r=(2, 8, 32), b=(2, 64), s=(2,), z=(2,),
    )  # fmt: skip
    text = '<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1]> ' + text
    times = {"DynamicQuantizeLSTM": {(5, 1, 8): 3.0}, "DynamicQuantizeMatMul": {(5, 3, 32): 1.0}}
    assert predicted(text, tmp_path, times).seconds == pytest.approx(2 * (3 + 1) * US)


def test_transforms_by_how_many_and_how_long(tmp_path):
    # 100 elements, a window of 20 every 10: 1 + (100 - 20) / 10 = 9 frames
    made = "s = Constant <value = int64 {10}> ()  y = STFT(x, s, w)"
    text = weighted("(float[1, 100] x) => (float[1, 9, 11, 2] y)", made, w=(20,))
    assert predicted(text, tmp_path, {"STFT": {(9, 20): 7.0}}).seconds == pytest.approx(7 * US)
    wide = weighted("(float[1, 100] x) => (float[1, 9, 9, 2] y)", made, w=(16,))
    assert not predicted(wide, tmp_path, {"STFT": {(9, 16): 7.0}}).complete  # a power of two goes another way


def test_a_device_without_kernels_says_what_to_do():
    report = neural_cost.analyze(path("dnn"), {"batch": 1})
    with pytest.raises(neural_cost.DeviceError, match="hardware --calibrate --kernels"):
        _ = report.prediction
    with pytest.raises(neural_cost.DeviceError, match="A100"):
        _ = neural_cost.analyze(path("dnn"), {"batch": 1}, device="A100-SXM4-80GB").prediction


def test_another_number_of_threads_than_were_timed_says_so(tmp_path):
    report = analyzed(RELU, tmp_path)
    on = device({"Relu": {(32,): 1.0}})
    assert on.kernels is not None
    for asked, said in ((8, True), (1, False)):
        found = neural_cost.predict(report, replace(on, kernels=replace(on.kernels, asked=asked)))
        assert any("with 1 threads and not with 8" in note for note in found.notes) is said

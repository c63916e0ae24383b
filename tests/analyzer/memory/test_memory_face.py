"""Activation memory in a report, in JSON and on the command line; what fits a device."""

import json

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.analyzer.device import Device
from neural_cost.cli import main
from neural_cost.models import path
from tests.memory_models import written

BOX = {"kind": "datasheet", "vendor": "us", "type": "gpu", "peaks": {"float32": 1e12}}
# One layer of weights: 64 x 64 floats; a batch of rows: x, x w, y
LAYER = """g (float[batch, 64] x) => (float[b, c] y) <float[64, 64] w = {WEIGHTS}> {
    a = MatMul(x, w)
    y = Softmax(a)
}""".replace("WEIGHTS", ", ".join("1" * 64 * 64))
WEIGHTS, ROW = 64 * 64 * 4, 3 * 64 * 4


@pytest.fixture
def layer(tmp_path):
    return written(LAYER, tmp_path)


def test_totals_have_the_plain_peak(layer):
    report = neural_cost.analyze(layer, dims={"batch": 5})
    assert report.totals.activation_peak_bytes == report.memory.peak_bytes == 5 * ROW
    assert report.to_dict()["totals"]["activation_peak_bytes"] == 5 * ROW
    assert report.memory.weight_bytes == WEIGHTS


def test_a_cache_of_keys_and_values_is_told_apart(tmp_path):
    text = """g (float[1, past, 8] keys, float[1, 3, 8] x) => (float[1, total, 8] all) {
        all = Concat <axis = 1> (keys, x)
    }"""
    memory = neural_cost.analyze(written(text, tmp_path), dims={"past": 5}).memory
    assert memory.cache_bytes == (5 + 8) * 8 * 4
    assert memory.peak_bytes == (5 + 8 + 3) * 8 * 4


def test_the_peak_is_a_formula(layer):
    report = neural_cost.analyze(layer)
    assert str(report.formulas.totals["activation_peak_bytes"]) == f"{ROW}*batch"
    assert report.to_dict()["formulas"]["activation_peak_bytes"] == f"{ROW}*batch"
    assert report.at(batch=9).activation_peak_bytes == 9 * ROW


@pytest.mark.parametrize(("room", "fits", "largest"), [(0, False, None), (1, True, 1), (1.9, True, 1), (7, True, 7)])
def test_the_largest_batch_that_fits(layer, room, fits, largest):
    device = Device(name="box", memory_bytes=WEIGHTS + int(room * ROW), **BOX)
    found = neural_cost.analyze(layer).fits(device)
    assert (found.fits, found.dim, found.largest, found.needed_bytes) == (fits, "batch", largest, WEIGHTS + ROW)


def test_what_is_not_known_of_a_device_or_a_batch_is_said(layer):
    unknown = neural_cost.analyze(layer).fits(Device(name="box", **BOX))
    assert (unknown.fits, unknown.largest, unknown.why) == (None, None, "the device's memory is not known")
    bound = neural_cost.analyze(layer, dims={"batch": 2}).fits(Device(name="box", memory_bytes=10**6, **BOX))
    assert (bound.fits, bound.dim, bound.largest) == (True, None, None)
    assert "batch" in bound.why
    assert neural_cost.analyze(layer).fits() is None


def test_an_unknown_peak_is_null_with_the_reason(tmp_path):
    report = neural_cost.analyze(written("g (float[3] x) => (int64[1, k] y) { y = NonZero(x) }", tmp_path))
    memory = report.to_dict()["memory"]
    assert (memory["peak_bytes"], memory["peak_lower_bytes"], memory["peak_upper_bytes"]) == (None, None, None)
    assert '"y"' in memory["why"]
    assert report.totals.activation_peak_bytes is None
    assert report.best_order().peak_bytes is None


def shown(capsys, *options):
    with pytest.raises(SystemExit) as ended:
        _run("analyze", *options)
    assert ended.value.code == 0
    return capsys.readouterr().out


def flat(text):
    """Without the breaks of lines that a narrow terminal makes."""
    return " ".join(text.split())


def _run(*words):
    import sys
    from unittest.mock import patch

    with patch.object(sys, "argv", ["neural-cost", *map(str, words)]):
        main()


def test_a_table_shows_the_peak_what_is_alive_and_a_chart(layer, capsys):
    text = flat(shown(capsys, layer, "--memory", "--device", "T4", "--order", "best"))
    assert "Activation peak" in text
    assert "at 1" in text
    assert "Workspace" in text
    assert "unknown" in text
    assert "Fits NVIDIA T4: yes" in text
    assert "the largest batch that fits is" in text
    assert "0.0% less" in text
    assert "█" in text


def test_a_record_reads_as_the_table_does(layer):
    text = flat(str(neural_cost.analyze(layer).memory))
    assert text.startswith("Activation peak 768 B at 1")
    assert "Alive at the peak" in text


def test_json_has_the_timeline_with_memory_alone(layer, capsys):
    plain = json.loads(shown(capsys, layer, "--format", "json"))["memory"]
    assert not {"timeline", "best", "fits"} & plain.keys()
    full = json.loads(shown(capsys, layer, "--format", "json", "--memory", "--order", "best", "--device", "T4"))[
        "memory"
    ]
    assert [moment["bytes"] for moment in full["timeline"]] == [2 * 64 * 4, ROW]
    assert full["best"] == {"peak_bytes": ROW, "order": [0, 1], "why": ""}
    assert full["fits"]["fits"] is True


@pytest.mark.parametrize("options", [["--order", "best"], ["--memory", "--format", "csv"]])
def test_options_that_do_not_fit_each_other_are_refused(options, capsys):
    with pytest.raises(SystemExit) as ended:
        _run("analyze", path("dnn"), *options)
    assert ended.value.code == 2
    assert "--memory" in capsys.readouterr().err


def test_two_open_dimensions_that_could_be_the_batch_are_both_named(tmp_path):
    text = """<ir_version: 10, opset_import: ["": 20]> g (float[batch, 4] x, float[batch2, 4] y) => (float[batch, 4] a,
        float[batch2, 4] b) { a = Relu(x)  b = Relu(y) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "two.onnx")
    found = neural_cost.analyze(tmp_path / "two.onnx", device="T4").fits()
    assert found.largest is None
    assert found.why == (
        'which of "batch", "batch2" is the batch is not known, so the largest is not told: give the others a size'
    )


def test_a_device_may_have_room_for_the_lower_figure_alone():
    found = neural_cost.analyze(path("transformer"), dims={"batch": 2})
    memory = found.memory
    assert memory.peak_lower_bytes < memory.peak_bytes < memory.peak_upper_bytes
    box = Device(name="box", memory_bytes=memory.weight_bytes + memory.peak_bytes, **BOX)
    verdicts = {way: found.fits(box, way) for way in ("with", "both", "without")}
    assert {way: fit.fits for way, fit in verdicts.items()} == {"with": True, "both": True, "without": False}
    assert verdicts["with"].needed_bytes == memory.weight_bytes + memory.peak_lower_bytes
    assert verdicts["without"].needed_bytes == memory.weight_bytes + memory.peak_upper_bytes
    with pytest.raises(neural_cost.OptionError, match="in_place cannot be 'never': it is one of both, with, without"):
        found.fits(box, "never")


def test_in_place_on_the_command_line(capsys, monkeypatch):
    def run(*words):
        monkeypatch.setattr("sys.argv", ["neural-cost", "analyze", str(path("dnn")), *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    code, out = run("--memory", "--device", "T4", "--in-place", "without", "--format", "json")
    memory = json.loads(out.out)["memory"]
    assert (code, memory["fits"]["needed_bytes"]) == (0, memory["weight_bytes"] + memory["peak_upper_bytes"])
    code, out = run("--in-place", "with")
    assert (code, "--in-place needs --memory" in out.err) == (2, True)
    code, out = run("--memory", "--in-place", "never")
    assert (code, '"never" is none of them' in out.err) == (2, True)

"""`neural-cost profile` and `hardware --calibrate`: forms, files, and mistakes in one sentence."""

import csv
import io
import json

import numpy as np
import pytest

from neural_cost.analyzer.device import Device
from neural_cost.models import path
from neural_cost.runtime.calibrate.calibrate import Plan, calibrate

QUICK = ("--budget", "0.05", "--threads", "1")


def test_table(run):
    code, out, err = run("profile", path("cnn"), *QUICK, "--dim", "batch=2")
    assert (code, err) == (0, "")
    assert "Time of a run" in out
    assert "node_Conv_22 + node_relu" in out
    assert "100.0% of MACs" in out
    quiet = run("profile", path("cnn"), *QUICK, "--quiet")[1]
    assert "Time of a run" in quiet
    assert "Kernels" not in quiet


def test_forms(run):
    assert json.loads(run("profile", path("dnn"), *QUICK, "--format", "json")[1])["mapping"]["mac_share"] == 1
    rows = list(csv.DictReader(io.StringIO(run("profile", path("dnn"), *QUICK, "--format", "csv")[1])))
    assert [row["nodes"] for row in rows if row["op_type"] == "FusedGemm"]
    assert run("profile", path("dnn"), *QUICK, "--format", "markdown", "--top", 2)[1].count("\n") == 4


@pytest.fixture
def calibrated(monkeypatch):
    """A machine that was measured: 1 TFLOP/s and 1 TB/s."""
    device = Device(name="made", kind="measured", vendor="", type="cpu", peaks={"float32": 1e12},
                    bandwidth_curve=((0, 1e12),))  # fmt: skip
    monkeypatch.setattr("neural_cost.runtime.this_machine.this_machine", lambda threads=None: device)


@pytest.mark.parametrize("by", ["node", "module", "cause"])
def test_rows_of_the_gap_add_up(by, run, calibrated):
    args = ("profile", path("cnn"), *QUICK, "--by", by)
    rows = list(csv.DictReader(io.StringIO(run(*args, "--format", "csv")[1])))
    if by == "cause":
        assert sum(float(row["share"]) for row in rows) == pytest.approx(1)
        return
    causes = [name for name in rows[0] if name not in ("name", "nodes", "seconds", "floor_s")]
    for row in rows:
        parts = float(row["floor_s"]) + sum(float(row[cause]) for cause in causes)
        assert parts == pytest.approx(float(row["seconds"]), abs=1e-12)
    assert f"{by.title()}s by time" in run(*args)[1]


def test_findings_as_rows(run, calibrated, monkeypatch):
    monkeypatch.setattr("neural_cost.analyzer.findings.layout.SHARE", 1e-9)  # whatever part of the time it takes
    # the inserted kernel can be shorter than what a profile costs: that is not taken off here
    as_noted = "neural_cost.analyzer.gap.analyze.unprofiled"
    monkeypatch.setattr(as_noted, lambda kernels, *rest: [kernel.seconds for kernel in kernels])
    args = ("profile", path("cnn"), *QUICK, "--by", "finding", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(run(*args)[1])))
    assert "inserted-conversions" in {row["id"] for row in rows}


def test_depth_is_of_modules(run, calibrated):
    rows = run("profile", path("transformer"), *QUICK, "--by", "module", "--depth", 1, "--format", "csv")[1]
    assert {row["name"] for row in csv.DictReader(io.StringIO(rows))} == {"encoder", "classifier", "(no module)"}
    assert run("profile", path("cnn"), "--depth", 1)[0] == 2


def test_trace_and_output(run, tmp_path):
    trace, output = tmp_path / "trace.json", tmp_path / "out.json"
    assert run("profile", path("dnn"), *QUICK, "--trace", trace, "--output", output, "--format", "json")[:2] == (0, "")
    assert json.loads(trace.read_text())["traceEvents"]
    assert json.loads(output.read_text())["kernels"]
    assert run("profile", path("dnn"), *QUICK, "--trace", output, "--output", output)[0] == 2


def test_inputs(run, tmp_path):
    np.savez(tmp_path / "in.npz", input=np.ones((3, 784), np.float32))
    assert "batch = 3" in run("profile", path("dnn"), *QUICK, "--inputs", tmp_path / "in.npz")[1]


def test_a_graph_without_weights(run, tmp_path):
    found, out, err = run("profile", f"hf:{tmp_path}", *QUICK)
    assert (found, out) == (3, "")
    assert "gives a graph without weights, which cannot be run: analyze it." in err


@pytest.mark.parametrize(
    ("options", "code", "why"),
    [
        (("--provider", "cuda"), 3, "install onnxruntime-gpu"),
        (("--provider", "nothing"), 3, 'no provider "nothing"'),
        (("--opt-level", "most"), 2, "choose one of disable"),
        (("--threads", "0"), 2, "--threads"),
        (("--dim", "batch"), 2, "NAME=SIZE"),
        (("--dim", "steps=2"), 2, "steps"),
        (("--inputs", "nothing.npz"), 2, "nothing.npz"),
        (("--trace", "/nowhere/trace.json"), 2, "does not exist"),
    ],
)
def test_mistakes(options, code, why, run):
    found, out, err = run("profile", path("dnn"), *QUICK, *options)
    assert (found, out) == (code, "")
    assert why in err
    assert "Traceback" not in err


def test_calibration_is_shown_and_kept(run, monkeypatch):
    small = calibrate(Plan(budget_s=0.5, sizes=(32,), types=("float32",), working_sets=(64 << 10,)))
    monkeypatch.setattr("neural_cost.runtime.calibrate.calibrate.calibrate", lambda progress: small)
    assert "Not measured yet" in run("hardware")[1]
    assert "float32, GFLOP/s" in run("hardware", "--calibrate")[1]
    try:
        assert "Measured" in run("hardware", "--quiet")[1]
        assert json.loads(run("hardware", "--format", "json")[1])["calibration"] == small.to_dict()
        assert "(measured)" in run("analyze", path("dnn"))[1]
        assert "bandwidth" in run("hardware", "--format", "csv")[1]
    finally:
        from neural_cost.runtime.calibrate.store import file_of

        file_of(small.machine).unlink()


def test_a_calibration_that_cannot_be_kept_is_shown(run, monkeypatch):
    small = calibrate(Plan(budget_s=0.5, sizes=(32,), types=("float32",), working_sets=(64 << 10,)))
    monkeypatch.setattr("neural_cost.runtime.calibrate.calibrate.calibrate", lambda progress: small)

    def fail(_):
        raise OSError("no space")

    monkeypatch.setattr("neural_cost.runtime.calibrate.store.store", fail)
    code, out, err = run("hardware", "--calibrate")
    assert code == 0
    assert "float32" in out
    assert "could not be kept (no space)" in err


def test_list_and_calibrate_exclude_each_other(run):
    assert run("hardware", "--list", "--calibrate")[0] == 2


def test_an_input_of_another_size_than_the_file_says(run, tmp_path):
    """cnn.onnx has 3 x 32 x 32 fixed."""
    np.savez(tmp_path / "in.npz", input=np.zeros((2, 3, 32, 31), np.float32))
    for given in (("--inputs", tmp_path / "in.npz"), ("--shape", "input=2x3x32x31")):
        code, out, err = run("profile", path("cnn"), *QUICK, *given)
        assert (code, out) == (2, "")
        assert 'the input "input" has the fixed size 32 along axis 3, and 31 was given' in " ".join(err.split())


def test_a_file_that_is_no_npz_is_told_of_without_advice_to_run_it(run, tmp_path):
    (tmp_path / "in.npz").write_text("x")
    code, _, err = run("profile", path("cnn"), *QUICK, "--inputs", tmp_path / "in.npz")
    assert code == 2
    assert "is no .npz file: write one with numpy.savez" in " ".join(err.split())
    assert "pickle" not in err


def test_ctrl_c_shows_what_was_measured_and_ends_with_130(run, monkeypatch):
    def once(call, times, warmup):
        for _ in range(warmup + 1):
            call()
        return False

    monkeypatch.setattr("neural_cost.runtime.profiled_run.run_often", once)
    code, out, _ = run("profile", path("dnn"), *QUICK)
    assert code == 130
    assert "it was interrupted: what was measured until then is kept" in " ".join(out.split())
    assert "Time of a run" in out

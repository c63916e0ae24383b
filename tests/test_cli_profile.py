"""`neural-cost profile` and `hardware --calibrate`: forms, files, and mistakes in one sentence."""

import csv
import io
import json

import numpy as np
import pytest

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


def test_trace_and_output(run, tmp_path):
    trace, output = tmp_path / "trace.json", tmp_path / "out.json"
    assert run("profile", path("dnn"), *QUICK, "--trace", trace, "--output", output, "--format", "json")[:2] == (0, "")
    assert json.loads(trace.read_text())["traceEvents"]
    assert json.loads(output.read_text())["kernels"]
    assert run("profile", path("dnn"), *QUICK, "--trace", output, "--output", output)[0] == 2


def test_inputs(run, tmp_path):
    np.savez(tmp_path / "in.npz", input=np.ones((3, 784), np.float32))
    assert "batch = 3" in run("profile", path("dnn"), *QUICK, "--inputs", tmp_path / "in.npz")[1]


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

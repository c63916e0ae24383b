"""`neural-cost analyze --predict` and `hardware --calibrate --kernels`: forms, files, and mistakes in one sentence."""

import csv
import io
import json
from itertools import product
from pathlib import Path

import jsonschema
import pytest

import neural_cost
from neural_cost.models import path
from tests.analyzer.prediction.made import device
from tests.analyzer.prediction.test_kernel_rates import rates

SCHEMA = json.loads((Path(neural_cost.__file__).parent / "schema.json").read_text())
GEMM = {
    "MatMul weight": {(m, k, n): m * k * n / 1e4 for m, k, n in product((1, 64), (1, 1024), (1, 1024))},
    "LayerNormalization": {(1, 1): 1.0},
}


@pytest.fixture
def timed(monkeypatch):
    """A machine whose kernels were timed, on any number of threads."""
    asked = []

    def machine(threads=None):
        asked.append(threads)
        return device(GEMM)

    monkeypatch.setattr("neural_cost.runtime.this_machine.this_machine", machine)
    return asked


def test_table(run, timed):
    code, out, err = run("analyze", path("dnn"), "--dim", "batch=16", "--predict", "--threads", 1)
    assert (code, err) == (0, "")
    assert "Predicted on round, 1 thread:" in out
    assert "nothing ran" in out
    assert "FusedGemm" in out
    assert timed == [1]
    quiet = run("analyze", path("dnn"), "--dim", "batch=16", "--predict", "--quiet")[1]
    assert "Predicted on" in quiet
    assert "FusedGemm" not in quiet


def test_json_is_of_the_schema(run, timed):
    data = json.loads(run("analyze", path("dnn"), "--dim", "batch=16", "--predict", "--format", "json")[1])
    jsonschema.validate(data, SCHEMA)
    prediction = data["prediction"]
    assert prediction["complete"]
    assert prediction["seconds"] == pytest.approx(sum(kernel["seconds"] for kernel in prediction["kernels"]))
    places = [place for kernel in prediction["kernels"] for place in kernel["source_nodes"]]
    assert len(places) == len(set(places)) > 0
    assert "prediction" not in json.loads(run("analyze", path("dnn"), "--format", "json")[1])


def test_rows(run, timed):
    args = ("analyze", path("dnn"), "--dim", "batch=16", "--predict", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(run(*args)[1])))
    times = [float(row["seconds"]) for row in rows]
    assert times == sorted(times, reverse=True)
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1)
    assert len(list(csv.DictReader(io.StringIO(run(*args, "--top", 2)[1])))) == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--threads", 2), "--threads needs --predict"),
        (("--predict", "--by", "node"), "leave out --by"),
        (("--predict", "--memory"), "in JSON alone"),
        (("--predict", "--training"), "in JSON alone"),
    ],
)
def test_options_that_do_not_fit(more, said, run):
    code, out, err = run("analyze", path("dnn"), *more)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())


def test_a_device_whose_kernels_were_not_timed(run):
    code, out, err = run("analyze", path("dnn"), "--predict", "--device", "A100-SXM4-80GB")
    assert code != 0
    assert out == ""
    assert "hardware --calibrate --kernels" in err
    assert "Traceback" not in err


def test_kernels_need_a_calibration(run):
    assert run("hardware", "--kernels")[0] == 2


@pytest.fixture
def quickly(monkeypatch, tmp_path):
    """Calibrations that take no time, kept in a folder of the test's own."""
    from neural_cost.runtime.calibrate import calibrate, store
    from neural_cost.runtime.calibrate.kernels import measure

    whole = calibrate.calibrate
    plan = calibrate.Plan(budget_s=0.05, sizes=(64,), working_sets=(1 << 20,))
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    monkeypatch.setattr(calibrate, "calibrate", lambda progress=None: whole(plan, progress=progress))
    monkeypatch.setattr(measure, "kernel_rates", lambda progress=None: rates())


def test_a_calibration_without_kernels_keeps_those_of_before(run, quickly):
    assert run("hardware", "--calibrate", "--kernels")[0] == 0
    again = json.loads(run("hardware", "--calibrate", "--format", "json")[1])
    assert again["calibration"]["kernels"]["points"] == rates().to_dict()["points"]

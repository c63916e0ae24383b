"""Training on the command line: the table, JSON against its schema, CSV, and options that do not fit each other."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from importlib.resources import files

import onnx
import onnx.parser
import pytest
from jsonschema import Draft202012Validator

import neural_cost
from tests.layout import ROOT

VALIDATOR = Draft202012Validator(json.loads((files("neural_cost") / "schema.json").read_text()))
DNN, TRANSFORMER = (ROOT / "models" / f"{name}.onnx" for name in ("dnn", "transformer"))
MACS = 784 * 128 + 128 * 128 + 128 * 10


@pytest.fixture
def run(run):
    """Run `analyze` in this process: (exit code, stdout, stderr)."""
    return partial(run, "analyze")


def test_the_table_has_work_memory_and_the_rule_of_thumb(run):
    code, out, _ = run(
        TRANSFORMER, "--dim", "batch=8", "--training", "--optimizer", "adamw", "--precision", "mixed",
        "--checkpoint", "block", "--accumulate", "4",
    )  # fmt: skip
    assert code == 0
    for text in ("Training MACs", "2 x forward", "computed again", "4 passes", "master copy", "state of adamw"):
        assert text in out
    assert "Nodes by flops" not in out


def test_json_is_what_its_schema_says(run):
    code, out, _ = run(DNN, "--training", "--freeze", "hidden1*", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert list(VALIDATOR.iter_errors(found)) == []
    training = found["training"]
    assert training["options"]["freeze"] == ["hidden1*"]
    assert training["weight_macs"] == MACS - 784 * 128
    assert training["formulas"]["weight_macs"] == f"{MACS - 784 * 128}*batch"


@pytest.mark.parametrize("field", ["backward_macs", "uncounted", "complete"])
def test_a_block_that_lacks_a_field_is_refused(field, run):
    found = json.loads(run(DNN, "--training", "--format", "json")[1])
    del found["training"][field]
    assert not VALIDATOR.is_valid(found)


def test_without_the_option_there_is_none(run):
    assert "training" not in json.loads(run(DNN, "--format", "json")[1])


def test_csv_has_the_nodes_that_run_backward(run):
    code, out, err = run(DNN, "--dim", "batch=16", "--training", "--format", "csv")
    assert (code, err) == (0, "")
    assert sum(int(row["weight_macs"]) for row in csv.DictReader(io.StringIO(out))) == 16 * MACS


def test_formulas_are_shown_with_symbolic(run):
    assert f"weight_macs = {MACS}*batch" in run(DNN, "--training", "--symbolic")[1]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--optimizer", "sgd"], "--training"),
        (["--accumulate", "2"], "--training"),
        (["--training", "--optimizer", "lion"], "lion"),
        (["--training", "--by", "op"], "--by"),
        (["--training", "--freeze", "nothing"], "nothing"),
    ],
)
def test_mistakes_are_told(options, word, run):
    code, _, err = run(DNN, *options)
    assert code == 2
    assert word in err


def test_what_is_left_out_makes_every_figure_a_lower_one(run, tmp_path):
    """Nothing is known of the operator, so nothing says that a run fits."""
    file = tmp_path / "odd.onnx"
    text = '<ir_version: 8, opset_import: ["": 17, "acme": 1]> g (float[2] x) => (float[2] y) { y = acme.Odd(x) }'
    onnx.save(onnx.parser.parse_model(text), file)
    code, out, _ = run(file, "--training", "--quiet", "--device", "T4")
    assert code == 0
    assert "yes" not in out
    work = out[out.index("Training MACs") :].splitlines()
    named = ("  weights ", "  gradients ", "  optimizer ", "  saved ", "  backward ", "2 x forward ")
    assert all(">=" in line for line in work if line.startswith(named))
    assert not neural_cost.analyze(file, device="T4").training().fits.fits

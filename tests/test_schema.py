"""The JSON is what its published schema says, and the schema refuses what would be a silent wrong number."""

from __future__ import annotations

import copy
import json
from importlib.resources import files

import onnx
import onnx.parser
import pytest
from jsonschema import Draft202012Validator

import neural_cost
from neural_cost.analyzer.tables.view import By
from neural_cost.cli import main
from tests.analyzer.tables.test_rows import LOOP, MODULES
from tests.analyzer.test_functions import NESTED
from tests.analyzer.test_records import QUANTIZED
from tests.bad_models import UNKNOWN_DOMAIN
from tests.layout import ROOT

SCHEMA = json.loads((files("neural_cost") / "schema.json").read_text())
MODELS = sorted((ROOT / "models").glob("*.onnx"))
VALIDATOR = Draft202012Validator(SCHEMA)

CAUSAL = """<ir_version: 10, opset_import: ["": 23]> g (float[n, 4, 3, 8] q) => (float[n, 4, 3, 8] y) {
    y = Attention <is_causal = 1> (q, q, q) }"""
DATA_DEPENDENT = """<ir_version: 8, opset_import: ["": 17]> g (float[n, 3] x) => (int64[2, k] y) {
    found = NonZero(x)  y = Add(found, found) }"""


def as_read(report):
    return json.loads(json.dumps(report.to_dict()))


def test_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_reports_are_valid(path):
    VALIDATOR.validate(as_read(neural_cost.analyze(path)))


def test_there_are_five_families():
    assert len(MODELS) == 5


def test_report_with_an_unknown_operator_is_valid(tmp_path):
    report = as_read(neural_cost.analyze(UNKNOWN_DOMAIN(tmp_path)))
    assert not report["totals"]["complete"]
    VALIDATOR.validate(report)


@pytest.mark.parametrize(
    "text",
    [LOOP, NESTED, MODULES, CAUSAL, QUANTIZED, DATA_DEPENDENT],
    ids=["trips", "functions", "operator", "attention", "quantized", "data-dependent"],
)
@pytest.mark.parametrize("device", [None, "T4"])
def test_reports_of_odd_models_are_valid(text, device, tmp_path):
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    VALIDATOR.validate(as_read(neural_cost.analyze(tmp_path / "model.onnx", device=device)))


@pytest.mark.parametrize("by", By)
@pytest.mark.parametrize("text", [LOOP, NESTED], ids=["trips", "functions"])
def test_what_the_command_writes_is_valid(by, text, tmp_path, monkeypatch):
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    options = ["--by", by, "--format", "json", "--output", str(tmp_path / "report.json"), "--verify"]
    monkeypatch.setattr("sys.argv", ["neural-cost", "analyze", str(tmp_path / "model.onnx"), *options])
    with pytest.raises(SystemExit):
        main()
    report = json.loads((tmp_path / "report.json").read_text())
    VALIDATOR.validate(report)
    assert report["view"]["rows"]
    assert report["verification"]["compared"]
    report["view"]["rows"][0]["more"] = 1
    assert not VALIDATOR.is_valid(report)


def lose(key):
    return lambda report: report.pop(key)


def spoil(*path, value):
    def change(report):
        for key in path[:-1]:
            report = report[key]
        report[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        *(lose(key) for key in ("tool", "convention", "model", "totals", "coverage", "nodes", "bounds", "notes")),
        spoil("totals", "macs", value=-1),
        spoil("totals", "macs", value=1.5),
        spoil("nodes", 0, "macs", value=None),  # without a reason
        spoil("nodes", 0, "constant", value=0),
        spoil("bounds", value=[{"device": "x", "kind": "guessed"}]),
        spoil("nodes", 0, "flops", value=None),  # known MACs, and no FLOPs
        spoil("nodes", 0, "inputs", 0, "shape", value=["batch"]),  # a name is no size: that is symbolic_shape's
        *(
            spoil(*path, "more", value=1)
            for path in [
                (),
                ("tool",),
                ("convention",),
                ("model",),
                ("totals",),
                ("totals", "traffic_bytes"),
                ("coverage",),
                ("nodes", 0),
                ("nodes", 0, "inputs", 0),
            ]
        ),
    ],
)
def test_spoiled_report_is_refused(change):
    report = copy.deepcopy(as_read(neural_cost.analyze(MODELS[0])))
    change(report)
    assert not VALIDATOR.is_valid(report)

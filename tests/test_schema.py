"""The JSON is what its published schema says, and the schema refuses what would be a silent wrong number."""

from __future__ import annotations

import copy
import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

import neural_cost
from tests.bad_models import UNKNOWN_DOMAIN
from tests.layout import ROOT

SCHEMA = json.loads((files("neural_cost") / "schema.json").read_text())
MODELS = sorted((ROOT / "models").glob("*.onnx"))
VALIDATOR = Draft202012Validator(SCHEMA)


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
    ],
)
def test_spoiled_report_is_refused(change):
    report = copy.deepcopy(as_read(neural_cost.analyze(MODELS[0])))
    change(report)
    assert not VALIDATOR.is_valid(report)

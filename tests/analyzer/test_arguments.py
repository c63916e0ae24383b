"""What is given in place of what is meant: one sentence in place of a TypeError."""

import builtins
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

import neural_cost
from neural_cost.models import path

DNN = path("dnn")
MACS = 784 * 128 + 128 * 128 + 128 * 10  # for each of a batch


@pytest.fixture(scope="module")
def report():
    return neural_cost.analyze(DNN)


class Module:
    def forward(self, x):
        return x


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda: onnx.load(DNN), r"not as an onnx\.ModelProto: save it first by onnx\.save"),
        (DNN.read_bytes, r"not as a bytes: save it first"),
        (Module, "export it first by neural_cost.export"),
        (lambda: 3, "not as an int: give the file's name"),
        (lambda: None, "give the file's name"),
    ],
    ids=["proto", "bytes", "module", "number", "nothing"],
)
def test_a_model_is_a_path(given, said):
    with pytest.raises(neural_cost.ModelError, match=said):
        neural_cost.analyze(given())


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"device": ["A100", "T4"]}, "DeviceError", "not a list; analyze once for each"),
        ({"device": 3}, "DeviceError", "not an int"),
        ({"dims": ["batch=2"]}, "DimensionError", "dims are given by name, .* not as a list"),
        ({"dims": "batch=2"}, "DimensionError", "not as a str"),
        ({"dims": {0: 2}}, "DimensionError", "names that are no text"),
        ({"dims": {"batch": "2"}}, "DimensionError", "not '2'"),
        ({"dims": {"batch": True}}, "DimensionError", "not True"),
        ({"shapes": [(2, 784)]}, "DimensionError", "shapes are given by name"),
        ({"shapes": {"input": 2}}, "DimensionError", "a sequence of sizes"),
        ({"shapes": {"input": "2x784"}}, "DimensionError", "a sequence of sizes"),
        ({"trips": ["loop"]}, "DimensionError", "trips are given by name"),
    ],
)
def test_options_that_are_none(options, error, said):
    with pytest.raises(getattr(neural_cost, error), match=said):
        neural_cost.analyze(DNN, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"dims": {"batch": np.int64(2)}},
        {"shapes": {"input": np.array([2, 784])}},
        {"shapes": {"input": (np.int32(2), 784)}},
    ],
)
def test_integers_of_other_libraries_are_sizes(options):
    found = neural_cost.analyze(DNN, **options)
    assert found.totals.macs == 2 * MACS
    assert type(found.model.dims["batch"]) is int


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda report: report.to_dataframe(by="modul"),
            r"by cannot be 'modul' \(did you mean \"module\"\?\): it is one",
        ),
        (lambda report: report.rows(sort="size"), "sort cannot be 'size'"),
        (lambda report: report.modules(depth=0), "from 1 up, not 0"),
        (lambda report: report.modules(depth="2"), "from 1 up, not '2'"),
        (lambda report: report.to_dataframe(by="op", depth=2), "a depth is one of modules"),
        (lambda report: report.at(["batch"]), "sizes are given by name"),
        (lambda report: report.fits(3), "a device is one"),
        (lambda report: report.formulas.totals["macs"]({"bacth": 2}), 'takes sizes by name, of "batch"'),
        (lambda report: neural_cost.verify("model.onnx"), "verify takes a report"),
        (lambda report: neural_cost.verify(report, [1]), "inputs are arrays by name"),
        (lambda report: neural_cost.verify(report, {"input": 1}), "must be an array of NumPy"),
        (lambda report: neural_cost.export(Module(), 1, 3), "give its path, not a int"),
    ],
)
def test_questions_that_are_none(ask, said, report):
    with pytest.raises(neural_cost.NeuralCostError, match=said):
        ask(report)


def test_a_device_may_be_named_where_it_is_asked_for(report):
    assert report.fits("T4").device == "NVIDIA T4"


def test_without_pandas_a_table_says_how_to_get_it(report, monkeypatch):
    def no_pandas(name, *rest, **options):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest, **options)

    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", no_pandas)
    with pytest.raises(neural_cost.BackendError, match="pip install pandas"):
        report.to_dataframe()


def test_what_has_a_forward_is_a_module():
    with pytest.raises(neural_cost.ModelError, match=r"neural_cost\.export"):
        neural_cost.analyze(SimpleNamespace(forward=1))

"""What can be named in place of an .onnx file: factories, saved models, families; exported once, and kept."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from neural_cost import BackendError, ExportError
from neural_cost.exporters import cache
from neural_cost.targets import is_onnx, load, onnx_file
from tests.exporters.conftest import registered, toy
from tests.layout import ROOT

__all__ = ["registered", "toy"]

FACTORY = """
import numpy as np
from tests.exporters.toy import Linear, WEIGHT

SCALE = 1

def make():
    return Linear(), np.arange(6, dtype=np.float32).reshape(2, 3)

def make_one():
    return Linear()

def fail():
    raise RuntimeError("no weights today\\nnor tomorrow")

def no_extra():
    raise ModuleNotFoundError("No module named 'tensorflow'", name="tensorflow")

def make_wrong():
    return Linear(WEIGHT + 1), np.ones((2, 3), np.float32)

number = 5
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NEURAL_COST_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def factory_file(toy, tmp_path, monkeypatch):
    """A file with factories, in the working directory, forgotten afterwards."""
    (tmp_path / "toy_factories.py").write_text(FACTORY)
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "toy_factories.py"
    sys.modules.pop("toy_factories", None)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("model.onnx", True),
        ("a:b.onnx", True),
        ("notes.txt", True),
        ("folder", True),
        ("zoo:dnn", False),
        ("package.module:factory", False),
        ("folder/file.py:factory", False),
        ("saved.pt2", False),
    ],
)
def test_what_is_an_onnx_file_already(target, expected):
    assert is_onnx(target) is expected


@pytest.mark.parametrize("target", ["toy_factories:make", "toy_factories.py:make"])
def test_a_factory_is_exported_and_analyzed(factory_file, run, target):
    code, out, err = run("analyze", target, "--dim", "batch=7", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out)["totals"]["macs"] == 7 * 3 * 2


def test_an_absolute_path(factory_file):
    assert onnx_file(f"{factory_file}:make").name == "make.onnx"


def test_a_saved_model(toy, tmp_path):
    (tmp_path / "small.toy").touch()
    assert onnx_file(str(tmp_path / "small.toy")).name == "small.onnx"


def test_the_search_path_is_put_back(factory_file):
    before = sys.path[:]
    load("toy_factories:make", print)
    assert sys.path == before


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("toy_factories:nothing", "nothing does not exist in toy_factories"),
        ("toy_factories:number", "number is no callable in toy_factories"),
        ("toy_factories:make_one", r"returned a Linear: it must return a pair \(model, example_inputs\)"),
        ("toy_factories:fail", "failed: RuntimeError: no weights today; --debug"),
        ("toy_factories:make_wrong", '^toy_factories:make_wrong: the output "y" of the exported file differs'),
        ("no_such_module:make", "cannot be imported: No module named 'no_such_module'"),
        ("none.py:make", r"none\.py does not exist"),
        ("none.toy", r"none\.toy does not exist"),
        ("zoo:vgg", r'no family is named "vgg": choose one of dnn, cnn, rnn, lstm, gru, bilstm, transformer'),
        ("zoo:dnn@caffe", r'no family is written in "caffe": choose one of torch'),
    ],
)
def test_targets_that_are_not_there(factory_file, target, message):
    with pytest.raises(ExportError, match=message):
        onnx_file(target)


def test_a_family_of_a_framework_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BackendError, match=r"zoo:dnn needs torch: pip install 'neural-cost\[torch\]'"):
        onnx_file("zoo:dnn")


def test_a_factory_whose_framework_is_not_installed(factory_file):
    with pytest.raises(
        BackendError, match=r"toy_factories:no_extra needs tensorflow: pip install 'neural-cost\[keras\]'"
    ):
        onnx_file("toy_factories:no_extra")


def test_what_was_exported_is_kept(factory_file):
    first = onnx_file("toy_factories:make")
    written = first.stat().st_mtime_ns
    again = onnx_file("toy_factories:make")
    assert again == first
    assert again.stat().st_mtime_ns == written


def test_another_content_is_another_export(toy, tmp_path, monkeypatch):
    from tests.exporters import toy as framework

    (tmp_path / "small.toy").touch()
    first = onnx_file(str(tmp_path / "small.toy"))
    monkeypatch.setattr(framework, "WEIGHT", framework.WEIGHT * 2)
    monkeypatch.setattr(framework.Linear.__init__, "__defaults__", (framework.WEIGHT, None, (), "float"))
    assert onnx_file(str(tmp_path / "small.toy")) != first


def test_a_failed_export_leaves_nothing(toy, tmp_path, monkeypatch):
    from tests.exporters import toy as framework

    monkeypatch.setattr(framework.Linear.__init__, "__defaults__", (framework.WEIGHT + 1, None, (), "float"))
    (tmp_path / "small.toy").touch()
    with pytest.raises(ExportError, match="differs"):
        onnx_file(str(tmp_path / "small.toy"))
    assert list(cache.folder().iterdir()) == []


def test_the_cache_drops_what_was_not_used_for_longest(tmp_path, monkeypatch):
    import os

    from neural_cost.exporters.protocol import Request

    monkeypatch.setattr(cache, "LARGEST", 25)
    files = []
    for age, name in ((30, "a"), (20, "b"), (10, "c")):
        files.append(cache.cached(name, name.encode(), Request(), lambda file: file.write_bytes(b"0123456789")))
        os.utime(files[-1].parent, (1_000_000 - age,) * 2)
    cache.cached("a", b"other", Request(), lambda file: file.write_bytes(b"0123456789"))
    assert [file.exists() for file in files] == [False, False, True]


def test_export_command(factory_file, run, tmp_path):
    code, out, err = run("export", "toy_factories:make", "-o", "out.onnx")
    assert (code, err) == (0, "")
    assert out.startswith("out.onnx: opset 20, by toy (toy 1.0)\ninputs  x (batch, 3)\noutputs y\ndiffers")
    assert (tmp_path / "out.onnx").exists()


def test_export_command_as_json(factory_file, run):
    _, out, _ = run("export", "toy_factories:make", "-o", "out.onnx", "--format", "json")
    assert json.loads(out)["parity"]["outputs"][0]["sizes"] == {"batch": 2}
    _, out, _ = run("export", "toy_factories:make", "-o", "out.onnx", "--format", "json", "--no-verify", "--fixed")
    assert json.loads(out)["parity"] is None
    assert json.loads(out)["dims"] == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--open", "x=batch"), "not of the form INPUT:AXIS=NAME"),
        (("--open", "x:0=n", "--fixed"), "exclude each other"),
    ],
)
def test_export_options_that_do_not_fit(factory_file, run, options, message):
    code, _, err = run("export", "toy_factories:make", "-o", "out.onnx", *options)
    assert code == 2
    assert message in " ".join(err.replace("│", " ").split())


def test_an_onnx_file_is_not_exported(run):
    code, _, err = run("export", ROOT / "models" / "dnn.onnx", "-o", "out.onnx")
    assert code == 2
    assert "no model of a framework" in " ".join(err.replace("│", " ").split())


def test_a_wrong_export_ends_in_one_sentence(toy, run, tmp_path, monkeypatch):
    from tests.exporters import toy as framework

    (tmp_path / "small.toy").touch()
    monkeypatch.setattr(framework.Linear.__init__, "__defaults__", (np.zeros((3, 2), np.float32), None, (), "float"))
    code, out, err = run("export", tmp_path / "small.toy", "-o", tmp_path / "out.onnx")
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert 'output "y"' in err
    assert not (tmp_path / "out.onnx").exists()

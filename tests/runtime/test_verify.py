"""Analysis against a run: equal on what is right, and every kind of difference is found."""

import json
import sys

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from onnx_shape_inference import registry

import neural_cost
from neural_cost.cli import main
from neural_cost.models import path

HEAD = '<ir_version: 10, opset_import: ["": 20]>\n'
LOOP = """g (float[n, 3] x) => (float[n, 3] y) <int64 most = {9}, bool c = {1}, int64 zero = {0}, int64 end = {5}> {
    k, y = Loop(most, c, zero, x) <
        body = b (int64 i, bool ci, int64 a, float[n, 3] v) => (bool co, int64 z, float[n, 3] w) {
            z = Add(a, end)
            co = Less(i, end)
            w = Mul(v, v)
        }
    >
}"""


def written(text, folder):
    file = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + text), file)
    return file


@pytest.mark.parametrize("family", ["dnn", "cnn", "rnn", "lstm", "transformer"])
def test_the_families_run_as_analyzed(family):
    report = neural_cost.analyze(path(family), dims={"batch": 3})
    found = neural_cost.verify(report)
    assert found.differences == []
    assert found.compared == sum(len(node.outputs) for node in report.nodes)


def test_trips_are_compared(tmp_path):
    found = neural_cost.verify(neural_cost.analyze(written(LOOP, tmp_path)))
    assert found.differences == []
    assert found.trips == 1


def test_a_wrong_trip_count_is_a_difference(tmp_path):
    file = written(LOOP, tmp_path)
    model = onnx.load(file)
    model.graph.node[0].name = "loop"
    onnx.save(model, file)
    (difference,) = neural_cost.verify(neural_cost.analyze(file, trips={"loop": 4})).differences
    assert (difference.what, difference.static, difference.run) == ("trips", 4, 6)  # i of 0 to 5


@pytest.fixture
def wrong_relu():
    """Shape inference that is wrong about Relu."""
    right = registry.get("", "Relu", version=20)

    def wrong(context, node):
        context.set_shape_and_dtype(node.outputs[0], ir.Shape([7, 7]), ir.DataType.FLOAT16)

    registry.register("", "Relu", since_version=20)(wrong)
    yield
    registry._registrations["", "Relu"] = [
        entry for entry in registry._registrations["", "Relu"] if entry[1] is not wrong
    ]
    registry._cache.pop(("", "Relu"), None)
    registry._max_version.pop(("", "Relu"), None)
    assert registry.get("", "Relu", version=20) is right


RELU = "g (float[n, 3] x) => (float[a, b] y) { y = Relu(x) }"


@pytest.mark.usefixtures("wrong_relu")
def test_a_wrong_shape_and_a_wrong_type_are_differences(tmp_path):
    found = neural_cost.verify(neural_cost.analyze(written(RELU, tmp_path)))
    assert [(d.what, d.static, d.run) for d in found.differences] == [
        ("type", "float16", "float32"),
        ("shape", [7, 7], [1, 3]),
    ]


@pytest.mark.usefixtures("wrong_relu")
def test_the_command_lists_differences_and_exits_with_1(tmp_path, capsys, monkeypatch):
    file = written(RELU, tmp_path)
    code, out = command(capsys, monkeypatch, file, "--verify", "--format", "json")
    assert code == 1
    assert [d["what"] for d in json.loads(out)["verification"]["differences"]] == ["type", "shape"]
    code, out = command(capsys, monkeypatch, file, "--verify")
    assert code == 1
    assert "2 differences" in out


def test_the_command_says_that_there_is_none(capsys, monkeypatch):
    code, out = command(capsys, monkeypatch, path("dnn"), "--verify", "--dim", "batch=2")
    assert code == 0
    assert "no difference" in out


def command(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["neural-cost", "analyze", *map(str, arguments)])
    try:
        code = main() or 0
    except SystemExit as exit_:
        code = exit_.code or 0
    return code, capsys.readouterr().out


def test_inputs_can_be_given(tmp_path):
    text = "g (float[2, 3] x) => (int64[2, k] y) { y = NonZero(x) }"
    report = neural_cost.analyze(written(text, tmp_path), dims={"y:1": 2})
    (difference,) = neural_cost.verify(report, {"x": np.ones((2, 3), np.float32)}).differences
    assert (difference.static, difference.run) == ([2, 2], [2, 6])
    assert neural_cost.verify(report, {"x": np.eye(2, 3, dtype=np.float32)}).differences == []


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "double", "int8", "uint64", "bool", "string"])
def test_inputs_of_every_type_can_be_made_up(dtype, tmp_path):
    report = neural_cost.analyze(written(f"g ({dtype}[n, 3] x) => ({dtype}[n, 3] y) {{ y = Identity(x) }}", tmp_path))
    found = neural_cost.verify(report)
    assert found.differences == []


def test_external_data_are_found(tmp_path):
    model = onnx.load(path("dnn"))
    onnx.save(model, tmp_path / "model.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert neural_cost.verify(neural_cost.analyze(tmp_path / "model.onnx")).differences == []


def test_what_cannot_run_is_told_in_one_sentence(tmp_path):
    file = written("g (float[n, 3] x) => (float[a, b] y) <int64[1] s = {4}> { y = Expand(x, s) }", tmp_path)
    with pytest.raises(neural_cost.BackendError, match="cannot be run by ONNX Runtime"):
        neural_cost.verify(neural_cost.analyze(file))


def test_a_run_that_shows_nothing_verifies_nothing(tmp_path):
    """All that there is is a size that only a run finds."""
    text = "g (float[n, 3] x) => (int64[2, k] y) { y = NonZero(x) }"
    found = neural_cost.verify(neural_cost.analyze(written(text, tmp_path)))
    assert found.compared == 0
    assert str(found).startswith("run in ONNX Runtime: nothing is verified in 0 tensors, as none could be compared")


def test_inputs_say_the_sizes_of_the_run(run, tmp_path):
    np.savez(tmp_path / "in.npz", input=np.ones((5, 784), np.float32))
    code, out, _ = run("analyze", path("dnn"), "--verify", "--inputs", tmp_path / "in.npz")
    assert code == 0
    assert "batch = 5" in out
    np.savez(tmp_path / "wrong.npz", nothing=np.ones(3))
    code, out, err = run("analyze", path("dnn"), "--verify", "--inputs", tmp_path / "wrong.npz")
    assert (code, out) == (2, "")
    assert "nothing" in err

"""What every exporter gets for nothing: the check of its file, the comparison, and no half-written file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import neural_cost
from neural_cost import BackendError, ExportError
from neural_cost.exporters import registry
from tests.exporters.toy import WEIGHT, Linear

X = np.array([[1, 0, 0], [0, 1, 0]], np.float32)  # rows 0 and 1 of the weight come out

pytestmark = pytest.mark.usefixtures("toy")


def test_export_of_a_registered_framework(tmp_path):
    exported = neural_cost.export(Linear(), X, tmp_path / "a.onnx")
    assert (exported.inputs, exported.outputs, exported.opset) == (("x",), ("y",), 20)
    assert exported.dims == {"x": {0: "batch"}}
    assert exported.exporter == "toy"
    assert exported.versions == {"toy": "1.0"}
    np.testing.assert_array_equal(exported.native({"x": X})[0], [[1, 2], [3, 4]])
    assert neural_cost.analyze(exported.path, dims={"batch": 5}).totals.macs == 5 * 3 * 2


def test_it_is_compared_at_three_batch_sizes(tmp_path):
    parity = neural_cost.export(Linear(), X, tmp_path / "a.onnx").parity
    assert [output.sizes for output in parity.outputs] == [{"batch": 2}, {"batch": 3}, {"batch": 1}]
    assert [output.shape for output in parity.outputs] == [(2, 2), (3, 2), (1, 2)]
    assert parity.max_abs_diff <= 1e-6


def test_record_is_plain_data_and_readable(tmp_path):
    exported = neural_cost.export(Linear(), X, tmp_path / "a.onnx")
    data = json.loads(json.dumps(exported.to_dict()))
    assert data["dims"] == {"x": {"0": "batch"}}
    assert data["parity"]["outputs"][0]["output"] == "y"
    assert "inputs  x (batch, 3)\noutputs y\n" in str(exported)
    assert exported._repr_html_().startswith("<pre>")


def test_a_different_output_is_named_with_the_figures(tmp_path):
    written = WEIGHT.copy()
    written[0, 1] = 2.5  # the example's range is 0 to 1, so the difference is at most 0.5
    with pytest.raises(ExportError, match=r'output "y" .* differs .* by [1-4]\.\de-01 \(relative .*\) at batch = 2'):
        neural_cost.export(Linear(written), X, tmp_path / "a.onnx")
    assert list(tmp_path.iterdir()) == []


def test_the_comparison_can_be_skipped(tmp_path):
    exported = neural_cost.export(Linear(WEIGHT + 1), X, tmp_path / "a.onnx", verify=False)
    assert exported.parity is None
    assert "not compared with the model" in str(exported)


def test_an_old_file_stays_when_the_new_one_is_wrong(tmp_path):
    (tmp_path / "a.onnx").write_bytes(b"old")
    with pytest.raises(ExportError):
        neural_cost.export(Linear(WEIGHT + 1), X, tmp_path / "a.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("error", "is_wrong"),
    [(1e-4, True), (3e-6, False)],  # float32 may differ by 1e-4 of the largest value, here about 3 + 4 = 7
)
def test_tolerance_is_that_of_the_type_and_of_the_output(tmp_path, error, is_wrong):
    written = WEIGHT * np.float32(1 + 10 * error)
    if is_wrong:
        with pytest.raises(ExportError, match="differs"):
            neural_cost.export(Linear(written), X, tmp_path / "a.onnx")
    else:
        neural_cost.export(Linear(written), X, tmp_path / "a.onnx")


def test_float16_may_differ_more(tmp_path):
    model = Linear(WEIGHT * np.float32(1.003), type_="float16")  # 0.3% is less than the 1% of float16
    parity = neural_cost.export(model, X.astype(np.float16), tmp_path / "a.onnx").parity
    assert 0 < parity.max_abs_diff <= 0.01 * 12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("g (float[batch, 3] x) => (float[batch, 2] y) { y = Nonsense(x, w) }", r"invalid file: .*Nonsense"),
        ("g (float[batch, 3] x) => (float[batch, 4] y) { y = MatMul(x, w) }", r"invalid file|refuses"),
        (
            "g (float[batch, 3] x) => (float y) { z = MatMul(x, w) y = ReduceSum <keepdims = 0> (z) }",
            r'"y" has the shape',
        ),
        (
            "g (float[batch, 3] x) => (float[batch, 2] y, float[batch, 2] z) { y = MatMul(x, w) z = Relu(y) }",
            r"gives 1 outputs, its file 2 \(y, z\)",
        ),
        (
            "g (float[batch, 3] x) => (float[batch, 2] y) { z = MatMul(x, w) u = Sub(z, z) y = Div(u, u) }",
            r'"y" .* differs from the model by inf',
        ),
    ],
)
def test_what_an_exporter_can_get_wrong(tmp_path, text, message):
    with pytest.raises(ExportError, match=message):
        neural_cost.export(Linear(text=text), X, tmp_path / "a.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_size_that_the_model_refuses_is_noted(tmp_path):
    parity = neural_cost.export(Linear(fixed=(2, 3)), X, tmp_path / "a.onnx").parity
    assert [output.sizes for output in parity.outputs] == [{"batch": 2}, {"batch": 3}]
    assert parity.notes == ("not compared at batch = 1: the model itself refuses it (only (2, 3) rows.)",)


def test_a_batch_at_which_alone_the_model_runs_is_closed(tmp_path):
    exported = neural_cost.export(Linear(fixed=(2,)), X, tmp_path / "a.onnx")
    assert exported.dims == {}
    assert exported.notes == ("no axis is open: the model runs at the size of its example alone",)
    assert neural_cost.analyze(exported.path).totals.macs == 2 * 3 * 2


def test_a_batch_at_which_alone_the_model_runs_stays_open_when_asked(tmp_path):
    exported = neural_cost.export(Linear(fixed=(2,)), X, tmp_path / "a.onnx", dynamic_dims={0: "batch"})
    assert exported.dims == {"x": {0: "batch"}}
    assert len(exported.parity.notes) == 2


def test_outputs_of_nan_alone_are_noted(tmp_path):
    class Undefined(Linear):
        def __call__(self, x):
            return super().__call__(x) * np.float32(np.nan)

    text = "g (float[2, 3] x) => (float[2, 2] y) { z = MatMul(x, w) u = Sub(z, z) y = Div(u, u) }"
    parity = neural_cost.export(Undefined(text=text), X, tmp_path / "a.onnx", dynamic_dims={}).parity
    (note,) = parity.notes
    assert note.startswith('nothing of the output "y" is finite')
    assert neural_cost.export(Linear(), X, tmp_path / "a.onnx", dynamic_dims={}).parity.notes == ()


def test_a_graph_that_holds_the_batch_is_caught(tmp_path):
    text = """g (float[batch, 3] x) => (float[2, 2] y)
        { z = MatMul(x, w) s = Constant <value_ints = [2, 2]> () y = Reshape(z, s) }"""
    with pytest.raises(ExportError, match="cannot run the exported file at batch = 3"):
        neural_cost.export(Linear(text=text), X, tmp_path / "a.onnx", dynamic_dims={0: "batch"})
    (note,) = neural_cost.export(Linear(text=text), X, tmp_path / "a.onnx").notes  # unless nobody asked for it
    assert note.startswith("no axis is open: ONNX Runtime cannot run the exported file at batch = 3")


def test_a_model_of_no_framework(tmp_path):
    with pytest.raises(ExportError, match=r"no exporter knows a builtins\.dict; there are exporters of toy, torch"):
        neural_cost.export({}, X, tmp_path / "a.onnx")


def test_no_folder_to_write_to(tmp_path):
    with pytest.raises(ExportError, match="cannot be written"):
        neural_cost.export(Linear(), X, tmp_path / "none" / "a.onnx")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "a.onnx").mkdir()
    with pytest.raises(ExportError, match="is a directory"):
        neural_cost.export(Linear(), X, tmp_path / "a.onnx")


def test_a_broken_plug_in_is_named(registered, tmp_path):
    registered("tests.exporters.nothing_here:Exporter")
    with pytest.raises(BackendError, match=r'the exporter "toy" .* cannot be loaded'):
        neural_cost.export(Linear(), X, tmp_path / "a.onnx")


def test_the_exporter_of_a_file():
    assert registry.exporter_of_file(Path("a.toy")).name == "toy"
    assert registry.exporter_of_file(Path("a.txt")) is None


def test_the_file_is_valid(tmp_path):
    exported = neural_cost.export(Linear(), X, tmp_path / "a.onnx")
    onnx.checker.check_model(exported.path, full_check=True)

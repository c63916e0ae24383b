"""Programs of torch.export: their open axes stay open, and nothing in their files is run."""

from __future__ import annotations

import json
import zipfile

import pytest
import torch
from torch import nn

import neural_cost
from neural_cost import ExportError, ModelError
from neural_cost.exporters.torch_exporter import TorchExporter


@pytest.fixture(scope="module")
def program():
    torch.manual_seed(0)
    dims = ({0: torch.export.Dim("rows", min=1)},)
    return torch.export.export(nn.Linear(4, 5).eval(), (torch.randn(3, 4),), dynamic_shapes=dims)


@pytest.fixture(scope="module")
def saved(program, tmp_path_factory):
    file = tmp_path_factory.mktemp("pt2") / "linear.pt2"
    torch.export.save(program, file)
    return file


def test_program(program, tmp_path):
    exported = neural_cost.export(program, None, tmp_path / "a.onnx")
    assert exported.dims == {"input": {0: "batch"}}
    assert neural_cost.analyze(exported.path, dims={"batch": 6}).totals.macs == 6 * 4 * 5
    assert len(exported.parity.outputs) == 3


def test_saved_program(saved, tmp_path):
    model, inputs = TorchExporter().load(saved)
    exported = neural_cost.export(model, inputs, tmp_path / "a.onnx")
    assert exported.inputs == ("input",)
    assert exported.parity.max_abs_diff < 1e-5


class Named(nn.Module):
    """One linear layer, of the sum of two inputs."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 5)

    def forward(self, left, right):
        return self.linear(left + right)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {"left": torch.ones(3, 4), "right": torch.ones(3, 4)}), ((torch.ones(3, 4),), {"right": torch.ones(3, 4)})],
)
def test_a_program_captured_with_keywords(args, kwargs, tmp_path):
    torch.export.save(torch.export.export(Named().eval(), args, kwargs), tmp_path / "named.pt2")
    model, inputs = TorchExporter().load(tmp_path / "named.pt2")
    for given in (inputs, None):
        exported = neural_cost.export(model, given, tmp_path / "a.onnx")
        assert exported.inputs == ("left", "right")
        assert neural_cost.analyze(exported.path).totals.macs == 3 * 4 * 5
    call = TorchExporter().call(model, inputs)
    tensors = [torch.from_numpy(array) for array in call.example.values()]
    assert tuple(call.function(*tensors).shape) == (3, 5)


def test_open_axes_are_those_of_the_program(program, tmp_path):
    with pytest.raises(ExportError, match=r"give them to torch\.export\.export"):
        neural_cost.export(program, None, tmp_path / "a.onnx", dynamic_dims={0: "n"})


def rewritten(saved, file, change):
    """A copy of an archive with one thing changed in every JSON file."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith(".json"):
                data = json.dumps(change(json.loads(data))).encode()
            new.writestr(name, data)
    return file


def poisoned(data):
    if isinstance(data, dict):
        return {key: "__import__('os')" if key == "expr_str" else poisoned(value) for key, value in data.items()}
    return [poisoned(each) for each in data] if isinstance(data, list) else data


def test_an_expression_that_is_no_size_is_not_evaluated(saved, tmp_path):
    file = rewritten(saved, tmp_path / "bad.pt2", poisoned)
    with pytest.raises(ModelError, match=r"bad\.pt2 holds \"__import__"):
        TorchExporter().load(file)


def test_a_pickled_object_is_not_read(saved, tmp_path):
    file = rewritten(saved, tmp_path / "bad.pt2", lambda data: data)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("linear/data/constants/custom_obj_0", b"x")
    with pytest.raises(ModelError, match=r"pickled object \(linear/data/constants/custom_obj_0\)"):
        TorchExporter().load(file)


@pytest.mark.parametrize("content", [b"", b"text"])
def test_no_program(content, tmp_path):
    (tmp_path / "bad.pt2").write_bytes(content)
    with pytest.raises(ModelError, match=r"bad\.pt2 is no torch.export program"):
        TorchExporter().load(tmp_path / "bad.pt2")

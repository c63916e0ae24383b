"""The script that makes the families refuses a file that is not the module."""

from __future__ import annotations

import pytest

from neural_cost.models import NAMES, make, path, torch_families


def test_made_file_is_checked(tmp_path):
    target = tmp_path / "rnn.onnx"
    assert make.make("rnn", target) <= make.TOLERANCE
    assert [file.name for file in tmp_path.iterdir()] == ["rnn.onnx"]


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_every_family_can_be_made_anew(name, tmp_path):
    assert make.make(name, tmp_path / "new.onnx") <= make.TOLERANCE


def test_other_weights_are_caught():
    module, _ = torch_families.dnn()
    module.classifier.bias.data += 1e-3
    with pytest.raises(ValueError, match=r"dnn\.onnx differs from PyTorch by 1\.0e-03"):
        make.check(module, path("dnn"))


def test_failure_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "rnn.onnx"
    target.write_bytes(b"old")
    monkeypatch.setattr(make, "TOLERANCE", -1.0)
    with pytest.raises(ValueError, match="differs"):
        make.make("rnn", target)
    assert target.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["rnn.onnx"]


def test_weights_are_the_same_every_time_and_the_generator_is_left_alone():
    import torch

    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    first, second = torch_families.lstm()[0].state_dict(), torch_families.lstm()[0].state_dict()
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert torch.equal(torch.rand(1), expected)

"""The worked example of the README: its commands, on the model that it names, show what it tells of."""

import json
import shlex
import subprocess
import sys

import pytest

from tests.corpus import practice_models
from tests.layout import ROOT
from tests.readme import README, blocks


def commands():
    (block,) = blocks("console", README.read_text())
    return [shlex.split(line) for line in block.splitlines()]


def ran(command, folder):
    program = ["-m", "neural_cost"] if command[0] == "neural-cost" else [str(ROOT / command.pop(1))]
    done = subprocess.run(
        [sys.executable, *program, *command[1:]], capture_output=True, text=True, check=False, cwd=folder, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_int8_is_faster_as_the_finding_says(tmp_path):
    (model,) = [each for each in practice_models() if each.name == "open-nsfw"]
    (tmp_path / "open-nsfw.onnx").write_bytes(model.file().read_bytes())
    device = ["--device", "T4"]  # whose int8 is faster by its datasheet: so it depends on no calibration
    before, quantize, after = commands()
    first = json.loads(ran([*before, *device, "--format", "json"], tmp_path))
    finding = next(each for each in first["findings"] if each["id"] == "faster-type")
    assert "in int8" in finding["evidence"]
    assert "largest difference" in ran(quantize, tmp_path)
    second = json.loads(ran([*after, *device, "--format", "json"], tmp_path))
    assert second["measurement"]["median_s"] < first["measurement"]["median_s"]
    for found in (first, second):
        gap = found["gap"]
        assert gap["floor_s"] + sum(cause["seconds"] for cause in gap["causes"]) == pytest.approx(gap["measured_s"])
    assert not [each for each in second["findings"] if each["id"] == "faster-type"]

"""What README shows is true: its commands run, its snippets run, and CI calls what it tells a reader to call."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest

from tests.layout import ROOT
from tests.readme import README, blocks, local_links, own_commands, setup_lines

TEXT = README.read_text()


def test_ci_calls_both_commands_as_they_stand():
    install, test = setup_lines(TEXT)
    assert " analyze " in install
    assert test.endswith("-m pytest -n 2")
    assert {install, test} <= set((ROOT / ".ci" / "run").read_text().splitlines())


def test_ci_can_be_executed():
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder with the models in it, so that what a command writes does not land in the tree."""
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEURAL_COST_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("arguments", own_commands(TEXT), ids=" ".join)
def test_commands_run(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "neural_cost", *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout or "--output" in arguments


@pytest.mark.usefixtures("elsewhere")
def test_the_sample_is_what_is_printed():
    (sample,) = blocks("text", TEXT)
    command = ["analyze", "models/transformer.onnx", "--dim", "batch=16", "--device", "A100", "--top", "5"]
    done = subprocess.run(
        [sys.executable, "-m", "neural_cost", *command],
        capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "112"},
    )  # fmt: skip
    shown, _, _ = done.stdout.partition("\n\nOperators by")
    assert sample.rstrip() == shown


@pytest.mark.usefixtures("elsewhere")
def test_snippets_run():
    exec(compile("\n".join(blocks("python", TEXT)), "README snippets", "exec"), {})


@pytest.mark.long
@pytest.mark.usefixtures("elsewhere")
def test_a_prediction_can_be_had_as_it_is_shown():
    """The two commands one after the other: the second needs what the first keeps."""
    (shown,) = blocks("shell", TEXT)
    for line in shown.splitlines():
        command = [sys.executable, "-m", "neural_cost", *shlex.split(line)[1:]]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stderr
    assert "Predicted on" in done.stdout


def test_there_is_something_to_run():
    assert len(own_commands(TEXT)) >= 8
    assert len(blocks("python", TEXT)) >= 2


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name):
    assert [link.name for link in local_links((ROOT / name).read_text()) if not link.exists()] == []


def test_commands_are_found_wherever_they_stand():
    text = "```bash\n# neural-cost no\na -q . && .venv/bin/neural-cost analyze 'a b.onnx'\nneural-cost hardware\n```\n"
    assert own_commands(text) == [("analyze", "a b.onnx"), ("hardware",)]

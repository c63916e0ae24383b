"""Options that several commands have are the same in each, and help can be read."""

from __future__ import annotations

import pytest
import typer

from neural_cost.cli import app
from neural_cost.commands import compare_families
from neural_cost.models import path

COMMANDS = ("analyze", "profile", "compare", "export", "hardware")
SHARED = ("--dim", "--shape", "--trips", "--depth", "--top", "--plot", "--format", "--quiet", "--verbose", "--debug")
OWN_WORDS = {("export", "--quiet"), ("export", "--verbose"), ("export", "--format"), ("compare", "--dim")}


def options():
    """The options of each command by their first names."""
    group = typer.main.get_command(app)
    single = typer.main.get_command(compare_families.app)
    commands = group.commands | {"neural-cost-compare": single}
    return {name: {option.opts[0]: option for option in command.params} for name, command in commands.items()}


def test_the_commands_are_these():
    assert tuple(typer.main.get_command(app).commands) == COMMANDS


@pytest.mark.parametrize("name", SHARED)
def test_an_option_says_the_same_in_each_command(name):
    having = {command: found[name] for command, found in options().items() if name in found}
    assert having
    assert len({found.help for command, found in having.items() if (command, name) not in OWN_WORDS}) <= 1


@pytest.mark.parametrize("name", ["--format", "--output", "--quiet", "--debug"])
def test_every_command_has_it(name):
    assert [command for command, found in options().items() if name not in found] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_and_loses_nothing(command, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(command, "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "<list" not in out
    assert command == "hardware" or "zoo:NAME[@FRAMEWORK]" in out  # brackets are markup, unless they are escaped


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("profile", path("dnn"), "--format", "json", "--top", 3), "JSON has all"),
        (("profile", path("dnn"), "--format", "json", "--by", "node"), "JSON has all"),
        (("profile", path("dnn"), "--quiet", "--by", "node"), "--quiet shows no rows"),
        (("profile", path("dnn"), "--opt-level", "most"), "choose one of disable, basic, extended, all"),
        (("export", "zoo:dnn", "-o", "dnn.onnx", "--quiet", "--verbose"), "exclude each other"),
        (("hardware", "--quiet", "--verbose"), "exclude each other"),
        (("analyze", path("dnn"), "--quiet", "--verbose"), "exclude each other"),
    ],
)
def test_an_option_that_would_go_unheard_is_refused(given, message, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*given)
    assert (code, out) == (2, "")
    assert message in " ".join(err.replace("│", "").split())
    assert list(tmp_path.iterdir()) == []

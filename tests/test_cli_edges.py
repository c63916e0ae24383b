"""What happens around a result: pipes that close, Ctrl-C, files that cannot be written, options that do not fit."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from neural_cost.render import progress as progress_module
from neural_cost.render.progress import Progress
from tests.layout import ROOT

DNN = ROOT / "models" / "dnn.onnx"
COMMAND = [sys.executable, "-m", "neural_cost"]


MISFITS = {
    "quiet and verbose": (["--quiet", "--verbose"], "--verbose"),
    "rows of a table without rows": (["--quiet", "--by", "op"], "--quiet"),
    "a view that is none": (["--by", "modul"], 'did you mean "module"?'),
    "a format that is none": (["--format", "yaml"], '"yaml" is none of them: choose one of table, json'),
    "two devices": (["--device", "A100", "--device", "T4"], "A100 and as T4"),
    "the CPU by name": (["--device", "CPU"], "left out"),
    "a shape with commas": (["--shape", "input=2,784"], "joined by x"),
    "depth of operators": (["--by", "op", "--depth", "2"], "--by module"),
    "top of JSON without rows": (["--format", "json", "--top", "2"], "--by"),
    "sort of JSON without rows": (["--format", "json", "--sort", "macs"], "--by"),
    "inputs without a run": (["--inputs", "x.npz"], "--verify"),
    "a run at sizes that are not its own": (["--verify", "--data-dependent", "upper"], "--data-dependent"),
}


@pytest.mark.parametrize(("options", "named"), MISFITS.values(), ids=MISFITS)
def test_options_that_do_not_fit_are_refused(options, named, run):
    code, out, err = run("analyze", DNN, *options)
    assert (code, out) == (2, "")
    assert named in " ".join(err.replace("\N{BOX DRAWINGS LIGHT VERTICAL}", " ").split())
    assert "Value error" not in err


def test_the_machine_is_not_quiet_and_verbose(run):
    assert run("hardware", "--quiet", "--verbose")[0] == 2


def test_quiet_and_verbose_machines(run):
    texts = [run("hardware", "--list", *options)[1] for options in ([], ["--quiet"], ["--verbose"])]
    assert ["source:" in text for text in texts] == [False, False, True]
    texts = [run("hardware", *options)[1] for options in ([], ["--quiet"])]
    assert ["source:" in text for text in texts] == [True, False]


def test_json_has_the_rows_that_were_asked_for(run):
    _, out, _ = run("analyze", DNN, "--by", "op", "--top", "2", "--sort", "macs", "--format", "json")
    data = json.loads(out)
    assert (data["view"]["by"], data["view"]["sort"], data["view"]["depth"]) == ("op", "macs", None)
    first, _ = data["view"]["rows"]
    assert first["name"] == "Gemm"
    assert len(data["nodes"]) == data["model"]["nodes"]
    assert "view" not in json.loads(run("analyze", DNN, "--format", "json")[1])


def unwritable(tmp_path):
    (tmp_path / "folder").mkdir()
    model = tmp_path / "model.onnx"
    model.write_bytes(DNN.read_bytes())
    return {
        "a folder": (model, tmp_path / "folder", "is a folder"),
        "no folder": (model, tmp_path / "absent" / "x.json", "does not exist"),
        "the model": (model, model, "is made from it"),
    }


@pytest.mark.parametrize("which", ["a folder", "no folder", "the model"])
def test_output_that_cannot_be_is_refused_before_any_work(which, tmp_path, run, monkeypatch):
    monkeypatch.setattr("neural_cost.analyzer.analyze.load", lambda path: 1 / 0)
    model, output, why = unwritable(tmp_path)[which]
    before = sorted(tmp_path.rglob("*"))
    code, out, err = run("analyze", model, "--output", output)
    assert (code, out) == (2, "")
    assert why in err
    assert len(err.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before
    assert model.read_bytes() == DNN.read_bytes()


def test_a_read_only_file_is_left_alone(tmp_path, run, monkeypatch):
    file = tmp_path / "report.txt"
    file.write_text("mine")
    # modes do not stop a superuser
    monkeypatch.setattr(os, "access", lambda path, mode: not (path == file and mode == os.W_OK))
    code, _, err = run("analyze", DNN, "--output", file)
    assert code == 2
    assert "read-only" in err
    assert file.read_text() == "mine"


def test_a_failure_while_writing_leaves_nothing(tmp_path, run, monkeypatch):
    def full(descriptor, *rest, **options):
        os.close(descriptor)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("neural_cost.render.output.os.fdopen", full)
    code, _, err = run("analyze", DNN, "--output", tmp_path / "report.txt")
    assert code == 2
    assert "No space left" in err
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_written_to_and_stays_one(run):
    assert run("analyze", DNN, "--output", os.devnull)[0] == 0
    assert not os.path.isfile(os.devnull)


def test_a_link_leads_to_the_file(tmp_path, run):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    run("analyze", DNN, "--output", tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert "MACs" in (tmp_path / "real.txt").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_reader_who_has_seen_enough_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, "hardware", "--list"], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_without_a_traceback(tmp_path):
    rules = tmp_path / "rules.py"  # a place to wait in that is known to be reached
    rules.write_text("import time\nprint('here', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen(
        [*COMMAND, "analyze", str(DNN), "--rules", str(rules)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == b"here\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in err


EXPORT = """import time, pathlib, torch
class Slow(torch.nn.Module):
    def forward(self, x):
        pathlib.Path(__file__).with_name("here").touch()
        time.sleep(60)
        return x
def slow(): return Slow(), torch.ones(2, 3)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_an_export_that_is_ended_leaves_nothing(tmp_path, number, code):
    pytest.importorskip("torch")
    (tmp_path / "slow.py").write_text(EXPORT)
    command = [*COMMAND, "export", f"{tmp_path / 'slow.py'}:slow", "-o", str(tmp_path / "a.onnx")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (tmp_path / "here").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(getattr(signal, number))
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert {each.name for each in tmp_path.iterdir()} - {"__pycache__"} == {"slow.py", "here"}


def test_a_dash_is_no_file(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("analyze", DNN, "--output", "-")
    assert code == 2
    assert err.startswith("- cannot be written: it is no name of a file")
    assert list(tmp_path.iterdir()) == []


def test_an_encoding_without_the_letter_is_no_crash():
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "COLUMNS": "60"}
    command = [*COMMAND, "analyze", str(ROOT / "models" / "transformer.onnx")]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def colours(monkeypatch, run, *, terminal, **environment):
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("neural_cost.render.output.sys.stdout.isatty", lambda: terminal)
    return "\x1b[" in run("analyze", DNN)[1]


def test_colour_is_for_terminals_that_want_it(monkeypatch, run):
    assert colours(monkeypatch, run, terminal=True)
    assert not colours(monkeypatch, run, terminal=False)
    assert not colours(monkeypatch, run, terminal=True, NO_COLOR="1")


@pytest.fixture
def terminal(monkeypatch):
    """A stderr that is a terminal of colours, and work that is long at once."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress_module, "QUICK_S", 0.0)


def waited_for(progress):
    deadline = time.perf_counter() + 10
    while progress._status is None and time.perf_counter() < deadline:
        time.sleep(0.01)
    return progress._status


@pytest.mark.usefixtures("terminal")
def test_long_work_says_what_it_does():
    with Progress() as progress:
        progress("reading")
        status = waited_for(progress)
        assert status is not None
        progress("costs")
        assert status.status == "costs"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_without_colour_no_cursor_is_moved(name, value, monkeypatch, capsys, request):
    request.getfixturevalue("terminal")  # after capsys, whose stderr it makes a terminal
    monkeypatch.setenv(name, value)
    with Progress() as progress:
        progress("reading")
        deadline = time.perf_counter() + 10
        while not progress._shown and time.perf_counter() < deadline:
            time.sleep(0.01)
        progress("costs")
    said = capsys.readouterr().err
    assert said.splitlines() == ["reading ...", "costs ..."]


@pytest.mark.usefixtures("terminal")
def test_quiet_is_quiet():
    with Progress(quiet=True) as progress:
        time.sleep(0.1)
    assert progress._status is None


def test_no_progress_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(progress_module, "QUICK_S", 0.0)
    with Progress() as progress:
        time.sleep(0.1)
    assert progress._status is None


def test_quick_work_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress() as progress:
        progress("reading")
    time.sleep(0.05)
    assert progress._status is None


def test_the_collector_works_again_after_a_command(run):
    assert run("analyze", DNN)[0] == 0
    assert gc.isenabled()


def test_analysis_tells_its_stages():
    import neural_cost

    stages = []
    neural_cost.analyze(DNN, progress=stages.append)
    assert [stage.split()[0] for stage in stages] == ["reading", "shapes", "costs"]
    assert "nodes" in stages[1]

"""The command's views, formats and options, on models whose costs are arithmetic."""

from __future__ import annotations

import csv
import io
import json

import pytest

from neural_cost.analyzer.tables.view import By
from tests.bad_models import UNKNOWN_DOMAIN
from tests.layout import ROOT

DNN = ROOT / "models" / "dnn.onnx"
DNN_MACS = 16 * (784 * 128 + 128 * 128 + 128 * 10)  # batch 16, three fully connected layers


def parsed(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("by", By)
def test_every_view_sums_to_the_total(by, run):
    code, out, err = run("analyze", DNN, "--dim", "batch=16", "--by", by, "--format", "csv")
    assert (code, err) == (0, "")
    assert sum(int(row["macs"]) for row in parsed(out)) == DNN_MACS


def test_top_and_sort(run):
    _, out, _ = run("analyze", DNN, "--dim", "batch=16", "--format", "csv", "--sort", "macs", "--top", "2")
    assert [int(row["macs"]) for row in parsed(out)] == [16 * 784 * 128, 16 * 128 * 128]


def test_markdown_is_a_table(run):
    _, out, _ = run("analyze", DNN, "--format", "markdown", "--by", "op")
    assert len({line.count("|") for line in out.splitlines()}) == 1
    assert out.splitlines()[1].startswith("| --- |")


def test_table_says_first_what_was_assumed(run):
    _, out, _ = run("analyze", DNN)
    assert "batch = 1" in out.splitlines()[1]
    _, out, _ = run("analyze", DNN, "--dim", "batch=16")
    assert "Assumed" not in out


def test_table_fits_and_has_no_colour_codes(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("analyze", DNN)
    tables = out[out.index("Nodes by") :]
    assert max(map(len, tables.splitlines())) <= 80
    assert "\x1b" not in out


def test_incomplete_is_marked(tmp_path, run):
    _, out, _ = run("analyze", UNKNOWN_DOMAIN(tmp_path), "--dim", "batch=2")
    assert "INCOMPLETE" in out
    assert ">= 24" in out  # 2 x 4 x 3 MACs are known
    assert "acme::Unheard x 1" in out


def test_unknown_is_an_empty_cell(tmp_path, run):
    _, out, _ = run("analyze", UNKNOWN_DOMAIN(tmp_path), "--format", "csv", "--by", "op")
    (row,) = (row for row in parsed(out) if row["name"] == "acme::Unheard")
    assert (row["macs"], row["unknown"]) == ("", "1")


def test_quiet_shows_totals_alone(run):
    _, out, _ = run("analyze", DNN, "--quiet")
    assert "MACs" in out
    assert "Nodes by" not in out


def test_quiet_keeps_the_bound_that_was_asked_for(run):
    _, out, _ = run("analyze", DNN, "--quiet", "--device", "TPU v4")
    assert "No faster on Google TPU v4 (datasheet) than: floor" in out
    assert "float32 at the rate of bfloat16, having no figure" in out


def test_a_bound_that_a_card_can_beat_says_so_in_its_line(run):
    _, out, _ = run("analyze", DNN, "--quiet", "--device", "RTX 4090")
    assert "at the rated boost clock, and this card can beat it" in " ".join(out.split())


@pytest.mark.parametrize("name", ["", "  "])
def test_a_device_without_a_name_is_misuse(name, run):
    code, out, err = run("analyze", DNN, "--device", name)
    assert (code, out) == (2, "")
    assert "no device is named" in err


def test_one_blank_line_parts_what_is_shown(run):
    _, out, _ = run("analyze", DNN, "--symbolic", "--memory", "--device", "A100")
    assert "\n\n\n" not in out


def test_output_is_written_whole_and_nothing_else_is_left(tmp_path, run):
    code, out, _ = run("analyze", DNN, "--format", "json", "--output", tmp_path / "report.json")
    assert (code, out) == (0, "")
    assert json.loads((tmp_path / "report.json").read_text())["schema_version"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_output_that_cannot_be_written_is_misuse(tmp_path, run):
    code, _, err = run("analyze", DNN, "--output", tmp_path / "absent" / "report.json")
    assert code == 2
    assert "report.json" in err


def test_depth_without_modules_is_misuse(run):
    assert run("analyze", DNN, "--depth", "2")[0] == 2


def test_debug_shows_the_traceback(tmp_path, run):
    code, _, err = run("analyze", tmp_path / "absent.onnx", "--debug")
    assert code == 3
    assert "Traceback" in err


def test_a_fault_of_the_program_is_said_to_be_one(monkeypatch, run):
    monkeypatch.setattr("neural_cost.analyzer.analyze.load", lambda path: 1 / 0)
    code, out, err = run("analyze", DNN)
    assert (code, out) == (3, "")
    assert "--debug" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
@pytest.mark.parametrize("options", [[], ["--list"]])
def test_hardware(form, options, run):
    code, out, err = run("hardware", *options, "--format", form)
    assert (code, err) == (0, "")
    assert ("A100" in out) == bool(options)


def test_symbolic_shows_formulas(run):
    code, out, _ = run("analyze", DNN, "--symbolic")
    assert code == 0
    macs = 784 * 128 + 128 * 128 + 128 * 10
    assert f"{macs}*batch" in out
    assert "How it grows" in out
    assert "linear" in out
    _, out, _ = run("analyze", DNN, "--symbolic", "--dim", "batch=4")
    assert "no dimension is open" in out


@pytest.mark.parametrize("arguments", [("--format", "csv"), ("--by", "op")])
def test_symbolic_is_refused_where_it_has_no_place(arguments, run):
    code, _, err = run("analyze", DNN, "--symbolic", *arguments)
    assert code == 2
    assert "--symbolic" in err


def test_a_size_may_be_zero(run):
    code, out, _ = run("analyze", DNN, "--dim", "batch=0", "--format", "json")
    assert (code, json.loads(out)["totals"]["macs"]) == (0, 0)


def test_the_version_is_told(run):
    from importlib.metadata import version

    assert run("--version") == (0, f"neural-cost {version('neural-cost')}\n", "")

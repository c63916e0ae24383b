"""`neural-cost-compare` beside what the device could do: rows and tables, worked by hand."""

from __future__ import annotations

import json

import pytest
import typer.testing

import neural_cost
from neural_cost import ExportError, HardwareSpec
from neural_cost.analyzer.comparison import BackendResult, Comparison
from neural_cost.analyzer.tables.text import to_text
from neural_cost.commands import compare_families
from neural_cost.family_rooflines import bar, hardware_page, roofline_rows, rooflines_page
from neural_cost.models import path
from tests.models.families import BATCH, DNN_MACS, DNN_PARAMETERS

MOVED = 4 * (DNN_PARAMETERS + BATCH * 784 + BATCH * 10)
RELU, BIAS = BATCH * (128 + 128), BATCH * (128 + 128 + 10)
NORM = 2 * (7 * BATCH * 128 + 5 * BATCH)  # standardize 5n + 5, scale, bias, for each row of two layers
FLOPS = 2 * DNN_MACS + BIAS + RELU + NORM


def comparison(**medians):
    results = [
        BackendResult(name=name.replace("_", " "), framework="torch", median_s=median, min_s=median,
                      ci_s=(median * 0.9, median * 1.3), throughput={}, samples=[[median]])
        for name, median in medians.items()
    ]  # fmt: skip
    return Comparison(
        target="dnn", reference="torch", threads=1, device="cpu", dims={"batch": BATCH}, machine="Made",
        date="2026-01-02T03:04:05+00:00", versions={"torch": "2"},
        backends=[*results, BackendResult(name="broken", framework="torch", error="no", throughput={}, samples=[])],
    )  # fmt: skip


def dnn(device):
    return neural_cost.analyze(path("dnn"), {"batch": BATCH}, device=device)


def test_rows_by_hand():
    device = HardwareSpec("made", peak_flops=1e9, memory_bandwidth=1e6)
    found = comparison(torch=2.0, onnxruntime_all=1.0)
    first, second = roofline_rows("dnn", "torch", found, dnn(device), ["torch", "onnxruntime all", "broken"])
    assert (first["backend"], second["backend"]) == ("torch", "onnxruntime all")
    assert (first["flops"], first["parameters"], first["io_bytes"]) == (FLOPS, DNN_PARAMETERS, MOVED)
    assert first["intensity"] == FLOPS / MOVED
    assert first["floor_s"] == pytest.approx(MOVED / 1e6)  # 0.53 s, and 0.004 s to compute
    assert first["limited_by"] == "memory"
    assert first["efficiency"] == pytest.approx(MOVED / 1e6 / 2)
    assert second["efficiency"] == pytest.approx(MOVED / 1e6)
    assert first["plus_minus_s"] == pytest.approx(2.0 * (1.3 - 0.9) / 2)
    assert (first["flops_per_s"], first["bytes_per_s"]) == (FLOPS / 2, MOVED / 2)


def test_half_a_device_is_no_bound_of_memory():
    (row,) = roofline_rows("dnn", "torch", comparison(torch=2.0), dnn(HardwareSpec("made", 1e9)), ["torch"])
    assert row["floor_s"] == pytest.approx(FLOPS / 1e9)
    assert row["limited_by"] == "unknown"


def test_without_an_export_nothing_is_known_but_times():
    (row,) = roofline_rows("dnn", "torch", comparison(torch=2.0), None, ["torch"])
    assert row["median_s"] == 2.0
    assert {row[name] for name in ("flops", "io_bytes", "floor_s", "efficiency", "bytes_per_s", "limited_by")} == {None}
    assert "unknown" in to_text(rooflines_page([row]))


def test_bars():
    assert bar(0.5) == "[█████░░░░░]"
    assert bar(0.0) == "[░░░░░░░░░░]"
    assert bar(1.0) == "[██████████]"
    assert bar(1.01) == "bound violated"
    assert bar(None) == "unknown"


def test_a_run_that_beats_its_bound_is_said_to():
    device = HardwareSpec("made", peak_flops=1e9, memory_bandwidth=1e6)
    rows = roofline_rows("dnn", "torch", comparison(torch=MOVED / 1e6 / 2), dnn(device), ["torch"])
    text = to_text(rooflines_page(rows), width=200)
    assert "200.0%" in text
    assert "one of them is too low" in text


def test_the_device_is_shown():
    text = to_text(hardware_page(HardwareSpec("Apple M3", peak_flops=3.6e12, memory_bandwidth=100e9)), width=120)
    for shown in ("Apple M3", "3.6 TFLOP/s", "100 GB/s", "36 FLOP/byte", "given by hand"):
        assert shown in text
    assert "unknown" in to_text(hardware_page(HardwareSpec("half", peak_flops=1e12)))


@pytest.fixture
def one_family(monkeypatch):
    """The command on one family that takes no time; its export can fail."""
    monkeypatch.setattr(compare_families, "FAMILIES", ("dnn",))
    monkeypatch.setattr(compare_families, "FRAMEWORKS", {"torch": "neural_cost"})
    found = comparison(torch=2.0, onnxruntime_all=1.0)
    monkeypatch.setattr(compare_families, "_compared", lambda *arguments, **named: found)
    monkeypatch.setattr("neural_cost.targets.onnx_file", lambda target: path("dnn"))


def call(*arguments):
    done = typer.testing.CliRunner().invoke(compare_families.app, arguments, env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.stdout


GIVEN = ("--quiet", "--peak-flops", "1e9", "--memory-bandwidth", "1e6")


@pytest.mark.usefixtures("one_family")
def test_the_command_shows_both():
    text = call(*GIVEN)
    assert "FF DNN (784-128-128-10, LayerNorm)" in text
    assert "the given device" in text
    assert f"{MOVED / 1e6 / 2:.1%}" in text


@pytest.mark.usefixtures("one_family")
def test_other_forms_have_the_figures():
    (one,) = json.loads(call(*GIVEN, "--format", "json"))
    assert [row["flops"] for row in one["roofline"]] == [FLOPS, FLOPS]
    head, row = call(*GIVEN, "--format", "csv").splitlines()
    cells = dict(zip(head.split(","), row.split(","), strict=True))
    assert (int(cells["flops"]), int(cells["parameters"])) == (FLOPS, DNN_PARAMETERS)
    assert float(cells["onnxruntime_efficiency"]) == pytest.approx(MOVED / 1e6)


@pytest.mark.usefixtures("one_family")
def test_a_family_that_cannot_be_exported_has_its_times(monkeypatch):
    def fail(target):
        raise ExportError("no")

    monkeypatch.setattr("neural_cost.targets.onnx_file", fail)
    (one,) = json.loads(call(*GIVEN, "--format", "json"))
    assert [(row["median_s"], row["flops"]) for row in one["roofline"]] == [(2.0, None), (1.0, None)]


@pytest.mark.usefixtures("one_family")
def test_without_figures_this_machine_is_measured(monkeypatch):
    asked = []
    made = HardwareSpec("measured", peak_flops=1e9, memory_bandwidth=1e6)
    monkeypatch.setattr(
        "neural_cost.runtime.calibrate.quick.measured_device", lambda threads: asked.append(threads) or made
    )
    assert "measured" in call("--quiet", "--threads", "2")
    assert asked == [2]


@pytest.mark.usefixtures("one_family")
def test_a_figure_that_is_none_is_misuse():
    done = typer.testing.CliRunner().invoke(compare_families.app, ["--quiet", "--peak-flops", "0"])
    assert isinstance(done.exception, neural_cost.DeviceError)  # `main` makes it one sentence and exit code 2

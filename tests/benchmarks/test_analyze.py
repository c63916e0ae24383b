"""The pieces of the benchmark, on chains of a few nodes: it is run by hand, and must not have rotted by then."""

import json

import pytest

import neural_cost
from benchmarks import analyze
from benchmarks.analyze import BASELINE, COMMAND, OURS, Row
from benchmarks.chain import write_chain
from benchmarks.worker import TOOLS


@pytest.fixture
def chain(tmp_path):
    return write_chain(tmp_path / "chain.onnx", 7)


def test_a_chain_costs_what_it_should(chain):
    assert neural_cost.analyze(chain).totals.macs == 3 * 8 * 4 * 4  # nodes 0, 3, 6: (8, 4) x (4, 4)


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool != "onnx-tool"])
def test_each_tool_is_measured_in_its_own_process(tool, chain):
    result = analyze.run_worker(tool, chain, 0, 60, chain)
    assert "error" not in result
    assert len(result["seconds"]) == 1
    assert 1e6 < result["peak_bytes"] < 1e9
    assert result["macs"] == (3 * 8 * 4 * 4 if tool == OURS else None)


def test_a_tool_that_hangs_is_stopped_and_said_so(chain):
    assert analyze.run_worker("onnx.load", chain, 60, 0.01, chain) == {"error": "stopped after 0.01 s"}


def test_a_tool_that_fails_is_said_so_and_not_asked_again(tmp_path, chain):
    rows = analyze.measure_models({"absent": tmp_path / "absent.onnx"}, chain, rounds=2, seconds=0, timeout=60)
    assert [row.tool for row in rows] == list(TOOLS)
    assert all(row.error and row.best is None for row in rows)
    assert all(row.error in analyze.as_markdown(rows, {COMMAND: []}, []) for row in rows)


def test_targets_are_held_against_the_best_times():
    rows = [Row("resnet50", OURS, seconds=[0.3, 0.1]), Row("resnet50", BASELINE, seconds=[0.04, 0.05])]
    rows += [Row("chain of 10,000", OURS, seconds=[1.0]), Row("chain of 10,000", BASELINE, seconds=[1.0])]
    rows += [
        Row("chain of 100,000", OURS, seconds=[11.0]),
        Row("chain of 100,000", BASELINE, error="stopped after 60 s"),
    ]
    warm, cold, ratio, growth = analyze.targets(rows, {COMMAND: [1.4, 1.5]})
    assert (warm.value, warm.verdict) == (0.1, "met")
    assert (cold.value, cold.verdict) == (1.4, "missed")
    assert (ratio.value, ratio.verdict) == (pytest.approx(0.1 / 0.04), "missed")
    assert (growth.value, growth.verdict) == (pytest.approx(1.1), "met")  # 11 s / 100k over 1 s / 10k


def test_what_was_not_measured_meets_no_target():
    rows = [Row("resnet50", tool, error="not installed") for tool in TOOLS]
    assert {target.verdict for target in analyze.targets(rows, {COMMAND: []})} == {"not measured"}


def test_the_record_is_written(tmp_path, chain, monkeypatch, capsys):
    monkeypatch.setattr(analyze, "CHAINS", (10, 20))
    monkeypatch.setattr(analyze, "resnet50", lambda: chain)
    output = tmp_path / "results.json"
    arguments = ["analyze", "--quick", "--seconds", "0", "--output", str(output)]
    monkeypatch.setattr("sys.argv", arguments)
    analyze.main()
    record = json.loads(output.read_text())
    assert {row["model"] for row in record["rows"]} == {"resnet50", "chain of 10"}
    assert len(record["targets"]) == 4
    assert "| resnet50 | neural-cost" in capsys.readouterr().out

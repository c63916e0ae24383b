"""The pieces of the benchmark, on chains of a few nodes: it is run by hand, and must not have rotted by then."""

import json

import pytest

import neural_cost
from benchmarks import analyze, measure, subjects
from benchmarks.chain import write_chain
from benchmarks.measure import COMMAND, Row, measure_models, run_worker
from benchmarks.subjects import BERT, BERT_BARE
from benchmarks.targets import BASELINE, OURS, targets
from benchmarks.transformers import Bert, Llama, write_bert, write_llama
from benchmarks.worker import TOOLS

LARGE = [subjects.LLAMA, subjects.BERT_BARE, subjects.DECODER_BARE]


@pytest.fixture
def chain(tmp_path):
    return write_chain(tmp_path / "chain.onnx", 7)


def test_a_chain_costs_what_it_should(chain):
    assert neural_cost.analyze(chain).totals.macs == 3 * 8 * 4 * 4  # nodes 0, 3, 6: (8, 4) x (4, 4)


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool != "onnx-tool"])
def test_each_tool_is_measured_in_its_own_process(tool, chain):
    result = run_worker(tool, chain, 0, 60, chain)
    assert "error" not in result
    assert len(result["seconds"]) == 1
    assert 1e6 < result["peak_bytes"] < 1e9
    assert result["macs"] == (3 * 8 * 4 * 4 if tool == OURS else None)


def test_a_tool_that_hangs_is_stopped_and_said_so(chain):
    assert run_worker("onnx.load", chain, 60, 0.01, chain) == {"error": "stopped after 0.01 s"}


def test_a_tool_that_fails_is_said_so_and_not_asked_again(tmp_path, chain):
    rows = measure_models({"absent": tmp_path / "absent.onnx"}, chain, rounds=2, seconds=0, timeout=60)
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
    rows += [Row(BERT, OURS, seconds=[0.3], peak_bytes=160_000_000), Row(BERT, BASELINE, seconds=[0.7])]
    rows += [Row(BERT_BARE, OURS, seconds=[0.2]), Row(BERT_BARE, BASELINE, error="no weights")]
    warm, cold, ratio, growth, shorter, longer, more, peak, *decoder = targets(rows, {COMMAND: [1.4, 1.5]})
    assert (warm.value, warm.verdict) == (0.1, "met")
    assert (cold.value, cold.verdict) == (1.4, "missed")
    assert (ratio.value, ratio.verdict) == (pytest.approx(0.1 / 0.04), "missed")
    assert (growth.value, growth.verdict) == (pytest.approx(1.1), "met")  # 11 s / 100k over 1 s / 10k
    assert [(each.value, each.verdict) for each in (shorter, longer)] == [(1.0, "met"), (11.0, "met")]
    assert (more.value, more.verdict) == (pytest.approx(0.3 - 0.2), "met")
    assert (peak.value, peak.verdict) == (160, "missed")
    assert [each.verdict for each in decoder] == ["not measured"] * 2


def test_what_was_not_measured_meets_no_target():
    rows = [Row("resnet50", tool, error="not installed") for tool in TOOLS]
    assert {target.verdict for target in targets(rows, {COMMAND: []})} == {"not measured"}


def test_the_record_is_written(tmp_path, chain, monkeypatch, capsys):
    monkeypatch.setattr(subjects, "CHAINS", (10, 20))
    monkeypatch.setattr(subjects, "resnet50", lambda: chain)
    monkeypatch.setattr(measure, "TOOLS", {tool: TOOLS[tool] for tool in (OURS, BASELINE)})
    small = {"layers": 1, "hidden": 8, "inner": 8, "heads": 2, "vocabulary": 9}
    monkeypatch.setattr(subjects, "write_llama", lambda path, weights, *_: write_llama(path, weights, Llama(**small)))
    monkeypatch.setattr(subjects, "write_bert", lambda path, weights, *_: write_bert(path, weights, Bert(**small)))
    output = tmp_path / "results.json"
    arguments = ["analyze", "--quick", "--seconds", "0", "--output", str(output)]
    monkeypatch.setattr("sys.argv", arguments)
    analyze.main()
    record = json.loads(output.read_text())
    assert {row["model"] for row in record["rows"]} == {"resnet50", "chain of 10"} | set(LARGE)
    assert len(record["targets"]) == 10
    assert "| resnet50 | neural-cost" in capsys.readouterr().out

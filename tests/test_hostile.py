"""Small files may not take much time or memory, however much they ask for; and each has its right answer."""

import onnx
import pytest

import neural_cost
from tests.bad_models import saved
from tests.fuzz import Judge, fuzz, seeds
from tests.hostile_models import HEAD, HOSTILE, calls, functions, loops


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    child = Judge(tmp_path_factory.mktemp("hostile"))
    yield child
    child.close()


@pytest.fixture
def analyzed(tmp_path):
    return lambda model: neural_cost.analyze(saved(model, tmp_path))


def of(text):
    return onnx.parser.parse_model(f"{HEAD} {text}")


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_little_memory_and_time(make, judge):
    assert not judge(make().SerializeToString())


def test_judging_finds_faults(judge, tmp_path, monkeypatch):
    from tests import fuzz as module

    path = saved(of("g (float[2] x) => (float[2] y) { y = Relu(x) }"), tmp_path)
    assert not module.judge(path)
    monkeypatch.setattr(neural_cost, "analyze", lambda path: 1 // 0)
    assert "ZeroDivisionError" in module.judge(path)


def test_broken_models_are_borne():
    count, faults = fuzz(seed=0, seconds=6, models=seeds())
    assert count > 5
    assert [fault.what for fault in faults] == []


@pytest.mark.long
def test_many_broken_models_are_borne():
    count, faults = fuzz(seed=1, seconds=120, models=seeds(node_tests=True))
    assert count > 100
    assert [fault.what for fault in faults] == []


def test_each_call_counts(analyzed):
    report = analyzed(calls(50))
    assert report.totals.flops == 50 * 3 * (2 * 3)  # Relu, Neg and Add of (2, 3)
    names = [node.name for node in report.nodes]
    assert len(set(names)) == len(names) == 150


def test_calls_ten_deep(analyzed):
    report = analyzed(functions(10, 1))
    assert report.totals.flops == 11 * 6  # a Relu of (2, 3) in each function


@pytest.mark.parametrize(("levels", "times", "why"), [(70, 1, "deeper than 64"), (17, 2, "more than 50,000 times")])
def test_functions_without_measure_are_refused(levels, times, why, analyzed):
    with pytest.raises(neural_cost.ModelError, match=why):
        analyzed(functions(levels, times))


def test_loops_in_loops_multiply(analyzed):
    report = analyzed(loops(3, 5))
    relu = next(node for node in report.nodes if node.op_type == "Relu")
    assert (relu.flops, relu.repeats) == (2 * 3, 5**3)

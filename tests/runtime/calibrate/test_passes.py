"""Everything is measured several times over, and the best counts; what differs between the times is told."""

import pytest

from neural_cost.analyzer.calibration import Rate
from neural_cost.runtime.calibrate import calibrate as module
from neural_cost.runtime.calibrate.calibrate import Plan, calibrate


def point(per_s, what="float32", threads=1, size=256):
    return Rate(what=what, threads=threads, size=size, per_s=per_s, spread=0.0)


def measured(monkeypatch, passes, waits=(0, 0, 0)):
    """A calibration whose passes are these rates of arithmetic and memory."""
    found = iter([
        module._Pass([point(product), point(memory, "bandwidth")], dispatch, waited)
        for (product, memory), dispatch, waited in zip(passes, (3e-7, 1e-7, 2e-7), waits, strict=True)
    ])  # fmt: skip
    monkeypatch.setattr(module, "_pass", lambda *rest: next(found))
    return calibrate(Plan(types=("float32",)))


def test_the_best_of_all_passes(monkeypatch):
    """Each point has its own best pass: the second for arithmetic, the third for memory."""
    found = measured(monkeypatch, [(95e9, 30e9), (100e9, 20e9), (99e9, 40e9)])
    assert [rate.per_s for rate in found.rates] == [100e9, 40e9]
    assert found.dispatch_s == 1e-7
    assert found.doubts == []


@pytest.mark.parametrize(("worst", "told"), [(91e9, False), (89e9, True)])
def test_a_peak_that_changes_is_told(worst, told, monkeypatch):
    """10 % below the best pass is the limit."""
    found = measured(monkeypatch, [(100e9, 1e9), (worst, 1e9), (100e9, 1e9)])
    assert bool(found.doubts) is told
    assert not told or "100 GFLOP/s at best and 89 GFLOP/s at worst" in found.doubts[0]


def test_memory_alone_may_change(monkeypatch):
    assert measured(monkeypatch, [(100e9, 40e9), (100e9, 20e9), (100e9, 40e9)]).doubts == []


def test_waiting_for_the_processor_is_told(monkeypatch):
    """Three passes of two points."""
    found = measured(monkeypatch, [(1e9, 1e9)] * 3, waits=(1, 0, 2))
    assert found.doubts == [
        "the machine was loaded: something else had the processor in 3 of 6 measurements on one thread"
    ]


@pytest.mark.parametrize(("waits", "told"), [(3, False), (4, True)])
def test_waiting_now_and_then_is_not(waits, told):
    """10 % of 3 x 10 points on one thread; those on two do not count."""
    rates = [point(1e9, size=size) for size in range(10)] + [point(1e9, threads=2)]
    assert bool(module._disturbed([rates] * 3, waits)) is told

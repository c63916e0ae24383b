"""Timing: samples, their interval, and why sampling stopped."""

import gc
from itertools import cycle
from math import comb

import pytest

import neural_cost
from neural_cost.analyzer.intervals import median_interval
from neural_cost.runtime.timing import Timing, benchmark


def clock(*seconds):
    """A timer that tells these seconds in turn; the first is what finds the number of calls of a sample."""
    told = cycle(seconds)
    return lambda fn, calls: next(told) * calls


def nothing():
    return None


@pytest.mark.parametrize(
    ("number", "rank"),
    [(6, 1), (8, 1), (9, 2), (20, 6), (100, 40)],  # of tables of the sign test: of 20, the 6th and the 15th
)
def test_interval_of_the_median(number, rank):
    assert median_interval(range(1, number + 1)) == (rank, number + 1 - rank)
    outside = 2 * sum(comb(number, k) for k in range(rank)) / 2**number
    assert outside <= 0.05 < outside + 2 * comb(number, rank) / 2**number


@pytest.mark.parametrize("number", [1, 2, 5])
def test_few_samples_have_no_interval_but_their_extremes(number):
    assert median_interval(range(1, number + 1)) == (1, number)


def test_samples_that_agree_end_it():
    found = benchmark(nothing, timer=clock(1.0), least=10)
    assert (len(found.samples), found.stopped_by, found.median_s, found.min_s, found.ci_s) == (
        10, "interval", 1.0, 1.0, (1.0, 1.0),
    )  # fmt: skip


def test_samples_that_differ_end_with_the_budget():
    found = benchmark(nothing, timer=clock(1.0, 2.0), budget_s=0.01)
    assert found.stopped_by == "budget"
    assert found.ci_s == (1.0, 2.0)


def test_as_many_samples_as_wanted():
    found = benchmark(nothing, timer=clock(1.0, 2.0), repeats=4, budget_s=0.0)
    assert (found.samples, found.stopped_by) == ((2.0, 1.0, 2.0, 1.0), "repeats")


def test_a_short_call_is_sampled_many_at_a_time():
    assert benchmark(nothing, timer=clock(2e-5), repeats=1).calls_per_sample == 3
    assert benchmark(nothing, timer=clock(1e-3), repeats=1).calls_per_sample == 1


def test_warm_up_does_not_count_and_the_collector_rests():
    calls = []
    found = benchmark(lambda: calls.append(gc.isenabled()), warmup=5, repeats=2, timer=lambda fn, n: fn() or 1.0)
    assert calls == [True] * 6 + [False] * 2  # five, one to see how long it takes, two samples
    assert gc.isenabled()
    assert found.warmup == 5


def test_what_was_measured_before_an_interrupt_is_kept():
    seconds = iter([1.0, 1.0, 2.0])

    def timer(fn, calls):
        try:
            return next(seconds)
        except StopIteration:
            raise KeyboardInterrupt from None

    found = benchmark(nothing, timer=timer)
    assert (found.samples, found.stopped_by) == ((1.0, 2.0), "interrupt")


def test_a_real_call_takes_time():
    found = benchmark(lambda: sum(range(20_000)), repeats=5)
    assert 0 < found.min_s <= found.median_s
    assert found.cpu_s > 0
    assert "median" in str(found)
    assert found.to_dict()["samples"] == list(found.samples)


def test_waiting_for_the_processor_is_told():
    timing = {"samples": (1.0,), "stopped_by": "repeats", "warmup": 0, "calls_per_sample": 1, "context_switches": 3}
    assert Timing(**timing, cpu_s=1.0, wall_s=1.2).waited(threads=1)
    assert not Timing(**timing, cpu_s=1.0, wall_s=1.05).waited(threads=1)
    assert not Timing(**timing, cpu_s=1.0, wall_s=1.2).waited(threads=2)


@pytest.mark.parametrize("option", [{"warmup": -1}, {"repeats": 0}, {"least": 0}, {"budget_s": -1}, {"precision": 0}])
def test_a_number_that_cannot_be(option):
    with pytest.raises(neural_cost.NeuralCostError, match=next(iter(option))):
        benchmark(nothing, **option)

"""Measurements that are none are refused in one sentence, before they become causes of nonsense."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import neural_cost
from neural_cost import HardwareSpec, Operation

ESTIMATE = neural_cost.estimate_operations([Operation("l", "linear", ((32, 64), (64, 10)), (32, 10), 4)])
GPU = HardwareSpec("GPU", peak_flops=1e12, memory_bandwidth=1e11)


@pytest.mark.parametrize("given", [0, 0.001, None, "1 ms", SimpleNamespace(median_s=1e-3)])
def test_what_has_no_times(given):
    with pytest.raises(neural_cost.OptionError, match="needs a measurement with median_s and min_s"):
        neural_cost.analyze_gap(ESTIMATE, given, GPU)


@pytest.mark.parametrize(
    ("median", "least"), [(0, 0), (1e-3, 0), (-1, -1), (1e-3, 2e-3), (float("nan"), 1e-3), (1, float("nan")),
                          (float("inf"), 1e-3)]
)  # fmt: skip
def test_times_that_cannot_be(median, least):
    with pytest.raises(neural_cost.OptionError, match="cannot be"):
        neural_cost.analyze_gap(ESTIMATE, SimpleNamespace(median_s=median, min_s=least), GPU)


def test_less_than_the_bound_is_a_violation():
    gap = neural_cost.analyze_gap(ESTIMATE, SimpleNamespace(median_s=1e-12, min_s=1e-12), GPU)
    assert gap.bound_violated
    assert gap.measured_s == 1e-12
    assert gap.floor_s + sum(cause.seconds for cause in gap.causes) == pytest.approx(1e-12, abs=1e-15)
    assert {cause.cause for cause in gap.causes if cause.seconds < 0} <= {"bound violated", "left out"}


@pytest.mark.parametrize(
    ("peak", "bandwidth"),
    [(0, 1e9), (-1, 1e9), (float("nan"), 1e9), (float("inf"), 1e9), (1e12, 0), ("fast", 1e9), (True, 1e9), (1e12, [1])],
)
def test_a_device_of_nonsense(peak, bandwidth):
    with pytest.raises(neural_cost.DeviceError, match=r"'g'.*(not above 0|is a number)"):
        HardwareSpec("g", peak_flops=peak, memory_bandwidth=bandwidth)


@pytest.mark.parametrize("count", [-5, float("nan"), float("inf"), "many"])
def test_an_operation_whose_counts_are_none(count):
    with pytest.raises(neural_cost.OptionError, match="macs cannot be"):
        Operation("c", "custom", ((2,),), (2,), 4, macs=count)


def test_no_threads():
    with pytest.raises(neural_cost.OptionError, match="threads cannot be 0"):
        neural_cost.this_machine(threads=0)

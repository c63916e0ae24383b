"""Calibration: the device that it makes, how it is kept, and a small one of this machine."""

import json
from dataclasses import replace

import pytest

from neural_cost.analyzer.calibration import Calibration, Rate
from neural_cost.analyzer.roofline import Work, kernel_bound
from neural_cost.runtime.calibrate import store
from neural_cost.runtime.calibrate.bandwidth import working_sets
from neural_cost.runtime.calibrate.calibrate import Plan, calibrate
from neural_cost.runtime.calibrate.compute import why_not
from neural_cost.runtime.calibrate.place import usable_threads
from neural_cost.runtime.detect import detect_cpu


def rate(what, threads, size, per_s, spread=0.01):
    return Rate(what=what, threads=threads, size=size, per_s=per_s, spread=spread)


MADE = Calibration(
    machine={"name": "Made", "vendor": "us", "machine": "x86_64", "cores": 4, "threads": 4, "quota_cpus": None},
    date="2026-01-02T03:04:05+00:00",
    versions={"onnxruntime": "1.32.0"},
    rates=(
        rate("float32", 1, 64, 50e9), rate("float32", 1, 256, 100e9),
        rate("float32", 4, 64, 60e9), rate("float32", 4, 256, 350e9),
        rate("bandwidth", 1, 1024, 80e9), rate("bandwidth", 1, 4096, 90e9), rate("bandwidth", 1, 8192, 20e9),
        rate("bandwidth", 4, 1024, 40e9), rate("bandwidth", 4, 4096, 200e9), rate("bandwidth", 4, 8192, 30e9),
    ),
    dispatch_s=5e-7,
    left_out={},
)  # fmt: skip


def test_a_device_has_the_best_rate_and_a_curve_that_never_rises():
    device = MADE.device(1)
    assert device.kind == "measured"
    assert device.peaks == {"float32": 100e9}
    assert device.bandwidth_curve == ((1024, 90e9), (4096, 90e9), (8192, 20e9))
    assert device.memory_bandwidth == 20e9
    assert MADE.device().peaks == MADE.device(9).peaks == {"float32": 350e9}


@pytest.mark.parametrize(("threads", "peak"), [(2, 200e9), (3, 300e9)])
def test_threads_that_were_not_measured_reach_no_more_than_each_of_them_alone(threads, peak):
    assert MADE.device(threads).peaks == {"float32": peak}
    assert MADE.device(threads).bandwidth_curve[-1] == (8192, 30e9)


def test_a_bound_by_hand():
    """2e9 FLOPs at 100 GFLOP/s are 20 ms; 8,192 bytes at 20 GB/s are 0.4 us."""
    bound = kernel_bound(Work({"float32": 2_000_000_000}, 8192), MADE.device(1))
    assert bound.compute_s == pytest.approx(0.02)
    assert bound.memory_s == pytest.approx(8192 / 20e9)


def test_it_is_kept_and_found_again(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "FOLDER", None)
    monkeypatch.setenv("NEURAL_COST_CACHE", str(tmp_path))
    assert store.stored(MADE.machine) is None
    file = store.store(MADE)
    assert store.stored(MADE.machine) == MADE
    assert store.stored({**MADE.machine, "cores": 2}) is None
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version": 0}', '{"version": 1, "rates": []}'])
def test_what_cannot_be_read_is_none(text, monkeypatch, tmp_path):
    monkeypatch.setattr(store, "FOLDER", None)
    monkeypatch.setenv("NEURAL_COST_CACHE", str(tmp_path))
    store.store(MADE).write_text(text)
    assert store.stored(MADE.machine) is None


def test_json_is_read_back():
    assert Calibration.from_dict(json.loads(json.dumps(MADE.to_dict()))) == MADE
    assert Calibration.from_dict(replace(MADE, notes=("loaded",)).to_dict()).notes == ("loaded",)


def test_working_sets():
    assert working_sets(1 << 20) == [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20]
    assert working_sets(None)[-1] == working_sets(1 << 40)[-1] == 1 << 30


def test_this_machine_in_small():
    """Whatever its speed: every curve is there, above 0, and can be kept."""
    plan = Plan(budget_s=1.0, sizes=(32, 64), types=("float32", "int8"), working_sets=(64 << 10, 1 << 20))
    stages = []
    found = calibrate(plan, stages.append)
    threads = usable_threads(detect_cpu())
    assert {(r.what, r.threads) for r in found.rates} == {
        (what, count) for what in ("float32", "int8", "bandwidth") for count in (1, threads)
    }
    assert all(rate.per_s > 0 and rate.spread >= 0 for rate in found.rates)
    assert 0 <= found.dispatch_s < 1e-3
    assert Calibration.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert stages
    curve = [rate for _, rate in found.device().bandwidth_curve]
    assert curve == sorted(curve, reverse=True)


def test_types_that_onnxruntime_lacks_are_said_to_be():
    assert why_not("float32") is None
    assert why_not("bfloat16") is None or "no kernel" in why_not("bfloat16")


def test_another_onnxruntime_than_the_one_that_was_measured_is_noted(monkeypatch):
    from neural_cost.runtime import this_machine

    monkeypatch.setattr(this_machine, "version", lambda name: "1.99.0")
    monkeypatch.setattr(store, "stored", lambda: MADE)
    found = this_machine.this_machine(1)
    assert found is not None
    assert found.notes[-1] == "measured with onnxruntime 1.32.0, and 1.99.0 is installed: calibrate again"
    monkeypatch.setattr(this_machine, "version", lambda name: "1.32.0")
    again = this_machine.this_machine(1)
    assert again is not None
    assert again.notes == MADE.device(1).notes

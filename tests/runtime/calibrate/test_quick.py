"""A machine that nobody calibrated, measured in some seconds."""

from __future__ import annotations

import pytest

import neural_cost
from neural_cost.analyzer.calibration import Calibration, Rate
from neural_cost.runtime import detect
from neural_cost.runtime.calibrate import quick, store
from neural_cost.runtime.calibrate.place import identity


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setattr(detect, "detect_gpus", list)
    quick._measured.cache_clear()
    yield
    quick._measured.cache_clear()


def made(peak):
    rates = [Rate(what="float32", threads=1, size=256, per_s=peak, spread=0.0)]
    rates += [Rate(what="bandwidth", threads=1, size=1 << 20, per_s=5e9, spread=0.0)]
    return Calibration(
        machine=identity(detect.detect_cpu()), date="2026-01-02", versions={}, rates=tuple(rates),
        dispatch_s=1e-6, left_out={},
    )  # fmt: skip


def test_it_is_measured_once(monkeypatch):
    plans = []
    monkeypatch.setattr(quick, "calibrate", lambda plan: plans.append(plan) or made(7e9))
    device, detection = neural_cost.detect_hardware()
    assert (device.kind, device.peak_flops, device.memory_bandwidth) == ("measured", 7e9, 5e9)
    assert (detection.device, detection.source) == (device, device.source)
    assert device.confidence == "low"
    assert quick.NOTE in device.notes
    assert neural_cost.detect_hardware()[0] == device
    assert [plan.types for plan in plans] == [("float32",)]


def test_a_calibration_is_taken(monkeypatch):
    monkeypatch.setattr(quick, "calibrate", lambda plan: pytest.fail("it was measured"))
    monkeypatch.setattr(store, "stored", lambda: made(9e9))
    device, _ = neural_cost.detect_hardware()
    assert device.peak_flops == 9e9
    monkeypatch.setattr(quick, "stored", lambda: made(9e9))
    assert quick.measured_device(1).peak_flops == 9e9


def test_without_measuring_it_is_a_datasheet(monkeypatch):
    monkeypatch.setattr(quick, "calibrate", lambda plan: pytest.fail("it was measured"))
    device, detection = neural_cost.detect_hardware(measure=False)
    assert device.kind == "datasheet"
    assert detection.measured is None


def test_working_sets_go_beyond_every_cache(monkeypatch):
    plans = []
    monkeypatch.setattr(quick, "calibrate", lambda plan: plans.append(plan) or made(7e9))
    quick.measured_device()
    sets = list(plans[0].working_sets)
    caches = detect.detect_cpu().caches
    assert sets == sorted(set(sets))
    assert sets[-1] >= min(1 << 30, 4 * (caches.get("L3") or caches.get("L2") or 1 << 28))


@pytest.mark.long
def test_this_machine():
    device, _ = neural_cost.detect_hardware()
    assert 1e8 < device.peak_flops < 1e14
    assert 1e8 < device.memory_bandwidth < 1e13

"""Which device a run on this machine is compared with."""

import pytest

from neural_cost.analyzer.cpu import cpu_device
from neural_cost.runtime import detect
from neural_cost.runtime.calibrate import store
from neural_cost.runtime.linux_cpu import linux_cpu
from neural_cost.runtime.this_machine import bounding_device
from tests.runtime.machines import XEON


@pytest.fixture
def xeon(monkeypatch):
    """A machine of 8 cores that nobody calibrated."""
    info = linux_cpu(XEON.get, range(16), "x86_64")
    monkeypatch.setattr(detect, "detect_cpu", lambda: info)
    monkeypatch.setattr(store, "stored", lambda: None)
    return info


def test_a_run_on_one_thread_is_held_against_one_core(xeon):
    assert bounding_device(None, threads=1) == cpu_device(xeon, 1)
    assert bounding_device(None, threads=1).peaks["float32"] * 8 == bounding_device(None).peaks["float32"]


def test_another_provider_is_not_this_cpu(xeon):
    assert bounding_device(None, provider="cuda", threads=1) is None

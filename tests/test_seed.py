"""The code that the seed's documentation shows, as it stands there."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

from neural_cost.analyzer.device import Device
from neural_cost.runtime.calibrate import quick
from tests.layout import ROOT

GAP = """
from neural_cost import HardwareSpec, Operation, analyze_gap, benchmark, estimate_operations, detect_hardware

ops = [Operation("classifier", "linear", ((32, 768), (768, 1000)), (32, 1000), 2)]
estimate = estimate_operations(ops)
measurement = benchmark(lambda: run_inference(), warmup=5, repeats=20)

# Auto-detect or specify manually:
hardware, info = detect_hardware()
# Or: hardware = HardwareSpec("GPU", peak_flops=312e12, memory_bandwidth=1.6e12)
report = analyze_gap(estimate, measurement, hardware)

print(report.render())
"""

HARDWARE = """
from neural_cost import detect_hardware

hardware, info = detect_hardware()
print(f"Device: {hardware.device_name} ({info.source})")
print(f"Peak FLOP/s: {hardware.peak_flops / 1e12:.1f} TFLOP/s")
print(f"Bandwidth: {hardware.memory_bandwidth / 1e9:.1f} GB/s")
"""

PROFILE = """
from neural_cost import profile_model
from neural_cost.adapters import TorchAdapter

profile = profile_model(
    model, inputs, TorchAdapter(), training=True, optimizer_state_multiplier=2
)
print(profile.memory.training_minimum_bytes)
"""

ADAPTERS = """
import torch
from neural_cost import estimate_model
from neural_cost.adapters import TorchAdapter

model = torch.nn.Sequential(torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
inputs = (torch.randn(16, 128),)
estimate = estimate_model(model, inputs, TorchAdapter())
measurement = TorchAdapter().benchmark(model, *inputs)
from neural_cost.adapters import JaxAdapter, TensorFlowAdapter, TorchAdapter
"""

MADE = Device(
    name="made", kind="measured", vendor="", type="cpu", peaks={"float32": 2.5e12}, source="measured here",
    bandwidth_curve=((1 << 16, 1e12), (1 << 30, 48.6e9)),
)  # fmt: skip


@pytest.fixture
def measured(monkeypatch):
    """A machine without a GPU that is measured in no time."""
    monkeypatch.setattr("neural_cost.runtime.detect.detect_gpus", list)
    monkeypatch.setattr(quick, "quick_device", lambda threads=None: MADE)


@pytest.mark.usefixtures("measured")
def test_portable_operations(capsys):
    a, b = np.ones((32, 768), np.float16), np.ones((768, 1000), np.float16)
    found = {"run_inference": lambda: a[:1] @ b}
    exec(GAP, found)
    assert found["estimate"].flops == 2 * 32 * 768 * 1000
    assert "against made" in capsys.readouterr().out
    # float16 has no figure: bounded at twice the rate of float32
    assert found["report"].floor_s >= 2 * 32 * 768 * 1000 / (2 * 2.5e12)
    assert found["report"].measured_s == found["measurement"].median_s


@pytest.mark.usefixtures("measured")
def test_hardware(capsys):
    exec(HARDWARE, {})
    assert capsys.readouterr().out.splitlines() == [
        "Device: made (measured here)", "Peak FLOP/s: 2.5 TFLOP/s", "Bandwidth: 48.6 GB/s",
    ]  # fmt: skip


def test_static_memory(capsys, monkeypatch, tmp_path):
    pytest.importorskip("torch")
    monkeypatch.setenv("NEURAL_COST_CACHE", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {}
        exec(ADAPTERS, found)
        exec(PROFILE, found)
    weights = 128 * 64 + 64 + 64 * 10 + 10
    assert capsys.readouterr().out.split() == [str(4 * (4 * weights + 16 * 64))]
    assert found["estimate"].macs == 16 * (128 * 64 + 64 * 10)
    assert found["measurement"].median_s > 0


@pytest.mark.parametrize("name", ["architecture_comparison", "compare_frameworks"])
def test_examples_are_the_command(name):
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "--peak-flops" in done.stdout
    assert "--memory-bandwidth" in done.stdout

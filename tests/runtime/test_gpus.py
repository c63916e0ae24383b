"""GPUs of what drivers' tools say, and what they say when something is wrong."""

import json
import subprocess

import pytest

import neural_cost
from neural_cost.runtime import detect, gpus
from neural_cost.runtime.gpus import Gpu, amd_gpus, ask, nvidia_gpus

ROCM = {
    "card0": {"Card series": "AMD Instinct MI300X OAM", "VRAM Total Memory (B)": "206141652992"},
    "card1": {"Card Series": "", "Card Model": "0x74a1", "VRAM Total Memory (B)": "none"},
    "system": {"Driver version": "6.10.5"},
}


def test_nvidia():
    text = "NVIDIA H200, 143771, 580.95.05\nNVIDIA A100-SXM4-80GB, [N/A], 580.95.05\n"
    assert nvidia_gpus(text) == [
        Gpu(name="NVIDIA H200", vendor="NVIDIA", memory_bytes=143771 * 2**20, driver="580.95.05"),
        Gpu(name="NVIDIA A100-SXM4-80GB", vendor="NVIDIA", memory_bytes=None, driver="580.95.05"),
    ]


def test_amd():
    assert amd_gpus(json.dumps(ROCM)) == [
        Gpu(name="AMD Instinct MI300X OAM", vendor="AMD", memory_bytes=206141652992, driver="6.10.5"),
        Gpu(name="0x74a1", vendor="AMD", memory_bytes=None, driver="6.10.5"),
    ]


@pytest.mark.parametrize("text", [None, "", "NVIDIA-SMI has failed", "{", "[1]", '"card0"', '{"card0": 3}'])
def test_nonsense_is_no_gpu(text):
    assert nvidia_gpus(text) == amd_gpus(text) == []


def test_a_tool_that_is_absent_fails_or_hangs_says_nothing(monkeypatch):
    assert ask(("neural-cost-no-such-tool",)) is None
    assert ask(("false",)) is None
    assert ask(("echo", "here")) == "here\n"

    def hang(*_, **__):
        raise subprocess.TimeoutExpired("echo", 1)

    monkeypatch.setattr(subprocess, "run", hang)
    assert ask(("echo", "here")) is None


def test_gpus_are_looked_up(monkeypatch):
    found = [
        Gpu(name="NVIDIA H200", vendor="NVIDIA", memory_bytes=143771 << 20, driver="580"),
        Gpu(name="Unheard-of 9", vendor="NVIDIA", memory_bytes=None, driver="580"),
    ]
    monkeypatch.setattr(detect, "detect_gpus", lambda: found)
    device, detection = neural_cost.detect_hardware()
    assert device.name == "NVIDIA H200"
    assert device.memory_bytes == 143771 << 20
    assert detection.notes == ["Unheard-of 9 is not in the table of devices: its peaks are unknown"]
    assert json.loads(json.dumps(detection.to_dict()))["gpus"][1]["name"] == "Unheard-of 9"


def test_without_gpus_the_cpu_is_the_device(monkeypatch):
    monkeypatch.setattr(detect, "detect_gpus", list)
    device, detection = neural_cost.detect_hardware(measure=False)
    assert device.type == "cpu"
    assert detection.cpu.cores >= 1


def test_no_library_is_no_error():
    assert gpus.detect_gpus() is not None

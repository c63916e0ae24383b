"""Backends on a GPU that is not there fail, and those of one that works by itself are waited for; by pretenders."""

from types import SimpleNamespace

import numpy as np
import pytest

from neural_cost.analyzer.errors import BackendError
from neural_cost.runtime.backends import torch_backend
from neural_cost.runtime.backends.jax_backend import Jax
from neural_cost.runtime.backends.protocol import Job
from neural_cost.runtime.backends.tensorflow_backend import TensorFlow
from neural_cost.runtime.backends.torch_backend import Torch
from neural_cost.runtime.rounds.arrays import write_arrays
from neural_cost.runtime.rounds.rounds import Plan, order_of, take_turns
from neural_cost.runtime.rounds.worker import variables
from tests.runtime.backends.pretenders import Pretender

NATIVE = SimpleNamespace(function=lambda x: x, example={"x": np.ones(2, np.float32)})


def has_gpu(framework):
    if framework == "torch":
        return pytest.importorskip("torch").cuda.is_available()
    if framework == "tensorflow":
        return bool(pytest.importorskip("tensorflow").config.list_physical_devices("GPU"))
    return any(device.platform == "gpu" for device in pytest.importorskip("jax").devices())


@pytest.mark.parametrize(
    ("framework", "backend", "told"),
    [
        ("torch", Torch("torch"), "this torch has no CUDA device"),
        ("tensorflow", TensorFlow("keras"), "this tensorflow has no GPU"),
        ("tensorflow", TensorFlow("tf.function"), "this tensorflow has no GPU"),
        ("jax", Jax(), "this jax has no cuda"),
    ],
)
def test_no_framework_takes_the_cpu_in_place_of_a_gpu(framework, backend, told):
    if has_gpu(framework):
        pytest.skip("there is one")
    with pytest.raises(BackendError, match=told):
        backend.prepare(Job(None, NATIVE, 1, "cuda"))


class Device:
    """A device that works by itself: what is started takes 5 ms of its clock, from when it is free."""

    def __init__(self):
        self.now = self.free = 0.0  # of the host's clock

    def launch(self):
        self.now += 0.001
        self.free = max(self.free, self.now) + 0.005

    def synchronize(self):
        self.now = max(self.now, self.free)

    def event(self, enable_timing):
        made = SimpleNamespace()
        made.record = lambda: setattr(made, "at", max(self.now, self.free))
        made.elapsed_time = lambda end: (end.at - made.at) * 1e3
        return made


@pytest.fixture
def device(monkeypatch):
    torch = pytest.importorskip("torch")
    made = Device()
    monkeypatch.setattr(torch.cuda, "synchronize", made.synchronize)
    monkeypatch.setattr(torch.cuda, "Event", made.event)
    monkeypatch.setattr(torch_backend.time, "perf_counter", lambda: made.now)
    return made


def test_by_the_clock_each_call_is_over_before_the_next_begins(device):
    """1 ms to start and 5 ms to run, 10 times, after what was still at work."""
    device.launch()
    assert torch_backend.cuda_wall(device.launch, 10) == pytest.approx(0.060)


def test_by_events_the_same_time_is_the_devices(device):
    device.launch()
    assert torch_backend.cuda_timer(device.launch, 10) == pytest.approx(0.060)


@pytest.mark.parametrize(
    ("device", "framework", "hidden"),
    [("cpu", "keras", True), ("cpu", "jax", True), ("cpu", "torch", False), ("cuda", "keras", False)],
)
def test_gpus_are_hidden_from_frameworks_that_take_them_unasked(device, framework, hidden, tmp_path):
    order = order_of(tmp_path, backend=Pretender("good", framework), load=None, file=None, threads=1, device=device)
    assert ("CUDA_VISIBLE_DEVICES" in variables(order)) is hidden


def test_a_first_run_is_over_when_it_is_told(tmp_path):
    """It starts at once, and takes 20 ms; memory and share of the processor are not those of a device."""
    write_arrays(tmp_path / "feeds.npz", {"x": np.ones(2, np.float32)})
    backend = Pretender("device", sleep_s=0.02)
    order = order_of(tmp_path, backend=backend, load=None, file=None, threads=1, device="cuda")
    (run,), _ = take_turns([order], tmp_path / "feeds.npz", Plan(budget_s=0.0), tmp_path, lambda stage: None)
    assert run.error is None
    assert run.started.first_s >= 0.02
    assert (run.memory, run.cpu_share) == (None, None)

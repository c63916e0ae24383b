"""Adapters: operations of a framework's models, their totals, times and traces."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import neural_cost
from neural_cost import ExportError, Operation, OptionError, estimate_model, estimate_operations, profile_model
from neural_cost.adapters import FrameworkAdapter, JaxAdapter, TensorFlowAdapter, TorchAdapter
from neural_cost.models import zoo
from tests.models.families import BATCH
from tests.models.forms import FOLDED, FORMS

ADAPTERS = {"torch": TorchAdapter, "keras": TensorFlowAdapter, "jax": JaxAdapter}
PACKAGES = {"torch": "torch", "keras": "tensorflow", "jax": "flax"}
QUICK = {"torch": ("dnn", "cnn", "rnn", "lstm", "transformer"), "keras": ("dnn",), "jax": ("dnn",)}
LONG = [(name, framework) for framework in ADAPTERS for name in zoo.FAMILIES if name not in QUICK[framework]]


@pytest.fixture(autouse=True)
def frameworks_warn(monkeypatch, tmp_path_factory):
    """Frameworks warn of each other while they are imported; exports are kept for this session."""
    monkeypatch.setenv("NEURAL_COST_CACHE", str(tmp_path_factory.getbasetemp() / "adapters"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def check_family(name, framework):
    pytest.importorskip(PACKAGES[framework])
    model, inputs = zoo.family(name, framework)
    found = estimate_model(model, inputs, ADAPTERS[framework]())
    batch = _batch(inputs)
    parameters, macs = FORMS[name]
    assert found.complete
    assert found.macs * BATCH == macs * batch
    assert found.parameters in {parameters, FOLDED.get(name, parameters)}
    again = estimate_operations(found.operations).totals
    same = ("macs", "flops", "special_ops", "macs_by_type", "flops_by_type", "parameters", "per_op_bytes", "complete")
    assert {each: getattr(again, each) for each in same} == {each: getattr(found.totals, each) for each in same}
    assert again.compulsory_bytes <= found.totals.compulsory_bytes


def _batch(inputs):
    first = inputs[0] if isinstance(inputs, tuple | list) else inputs
    return int(first.shape[0])


@pytest.mark.parametrize(("name", "framework"), [(name, each) for each, names in QUICK.items() for name in names])
def test_families(name, framework):
    check_family(name, framework)


@pytest.mark.long
@pytest.mark.parametrize(("name", "framework"), LONG)
def test_other_families(name, framework):
    check_family(name, framework)


@pytest.fixture
def small():
    """A module whose costs are worked by hand, and its inputs."""
    torch = pytest.importorskip("torch")
    layers = torch.nn.Linear(128, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)
    return torch.nn.Sequential(*layers), (torch.ones(16, 128),)


WEIGHTS = 128 * 64 + 64 + 64 * 10 + 10


def test_totals_are_those_of_the_export(small, tmp_path):
    found = estimate_model(*small, TorchAdapter())
    exported = neural_cost.export(*small, tmp_path / "small.onnx")
    report = neural_cost.analyze(exported.path, dims={"batch": 16})
    assert found.totals == report.totals
    assert [each.kind for each in found.operations] == ["linear", "elementwise", "linear"]
    assert found.macs == 16 * (128 * 64 + 64 * 10)
    assert found.flops == 2 * found.macs + 16 * (64 + 64 + 10)  # a bias, a ReLU, a bias
    assert (
        found.bound("A100").floor_s
        == neural_cost.analyze(exported.path, {"batch": 16}, device="A100").bounds[0].floor_s
    )


def test_the_adapter_is_found(small):
    assert estimate_model(*small).totals == estimate_model(*small, TorchAdapter()).totals


def test_memory_by_hand(small):
    memory = profile_model(*small, TorchAdapter(), training=True, optimizer_state_multiplier=2).memory
    assert memory.parameter_bytes == memory.gradient_bytes == 4 * WEIGHTS
    assert memory.optimizer_state_bytes == 2 * 4 * WEIGHTS
    assert memory.activation_minimum_bytes == 4 * 16 * 64
    assert memory.activation_conservative_bytes == 4 * 16 * (64 + 64 + 10)
    assert memory.training_minimum_bytes == 4 * (4 * WEIGHTS + 16 * 64)
    assert memory.training_conservative_bytes == 4 * (4 * WEIGHTS + 16 * (64 + 64 + 10))


def test_memory_without_training(small):
    found = profile_model(*small, TorchAdapter(), optimizer_state_multiplier=2)
    assert (found.memory.gradient_bytes, found.memory.optimizer_state_bytes) == (0, 0)
    assert found.memory.inference_minimum_bytes == 4 * (WEIGHTS + 16 * 64)
    assert found.memory.training_minimum_bytes is None
    assert "training_minimum_bytes" not in found.to_dict()["memory"]
    assert "inference_minimum_bytes: 39,720" in str(found)  # the same figure


def test_a_multiplier_below_0_is_misuse(small):
    with pytest.raises(OptionError, match="optimizer_state_multiplier cannot be -1"):
        profile_model(*small, TorchAdapter(), training=True, optimizer_state_multiplier=-1)


def test_a_model_of_another_framework_is_told(small):
    with pytest.raises(ExportError, match=r"JaxAdapter reads models of jax, and this is one of torch"):
        estimate_model(*small, JaxAdapter())


def test_torch_is_timed_and_left_as_it_was(small):
    model, inputs = small
    model.train()
    timing = TorchAdapter().benchmark(model, *inputs, repeats=3)
    assert (len(timing.samples), timing.stopped_by) == (3, "repeats")
    assert model.training


def test_torch_is_run_for_inference(small):
    torch = pytest.importorskip("torch")
    seen = []
    model, inputs = small
    model.register_forward_hook(lambda module, *_: seen.append((module.training, torch.is_grad_enabled())))
    TorchAdapter().benchmark(model.train(), *inputs, repeats=1, warmup=0)
    assert set(seen) == {(False, False)}


def test_torch_tells_its_events(small):
    model, inputs = small
    trace = TorchAdapter().trace(model, *inputs, runs=3)
    calls = {event.name: event.calls for event in trace.events}
    assert (calls["aten::addmm"], calls["aten::relu"]) == (2 * 3, 3)
    assert trace.allocator is None  # no accelerator here
    assert all(event.cpu_s >= 0 for event in trace.events)
    assert trace.to_dict()["runs"] == 3
    assert "aten::addmm" in str(trace)
    with pytest.raises(OptionError, match="runs cannot be 0"):
        TorchAdapter().trace(model, *inputs, runs=0)


def test_jax_waits_for_its_results():
    jax = pytest.importorskip("jax")
    waited = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax, "block_until_ready", waited.append)
        timing = JaxAdapter().benchmark(lambda x: x + 1, jax.numpy.ones(3), repeats=2, warmup=0)
    assert len(waited) >= 2
    assert len(timing.samples) == 2
    assert JaxAdapter().trace(lambda x: x + 1, jax.numpy.ones(3)).framework == f"jax {jax.__version__}"


def test_tensorflow_is_timed_and_traced():
    tensorflow = pytest.importorskip("tensorflow")
    assert len(TensorFlowAdapter().benchmark(tensorflow.nn.relu, tensorflow.ones(3), repeats=2).samples) == 2
    trace = TensorFlowAdapter().trace(tensorflow.nn.relu, tensorflow.ones(3))
    assert (trace.events, trace.allocator) == ((), None)
    assert "PyTorch alone" in str(trace)


class Matrices(FrameworkAdapter):
    """A framework of one's own: its models are matrices, each multiplied with what the one before gave."""

    def operations(self, model, example_inputs):
        (x,) = example_inputs
        shapes = [x.shape, *((x.shape[0], matrix.shape[1]) for matrix in model)]
        return [
            Operation(f"layer{place}", "linear", (shapes[place], matrix.shape), shapes[place + 1], matrix.itemsize)
            for place, matrix in enumerate(model)
        ]

    def run(self, model, inputs):
        return lambda: np.linalg.multi_dot([*inputs, *model])


def test_a_framework_of_ones_own():
    model = [np.ones((3, 5), np.float32), np.ones((5, 7), np.float32)]
    inputs = (np.ones((2, 3), np.float32),)
    found = profile_model(model, inputs, Matrices(), training=True, optimizer_state_multiplier=1)
    assert found.estimate.macs == 2 * (3 * 5 + 5 * 7)
    assert found.memory.training_minimum_bytes == 4 * (3 * (15 + 35) + 2 * 7)
    assert len(Matrices().benchmark(model, *inputs, repeats=2).samples) == 2


def test_an_adapter_that_reads_modules_in_its_own_way(small):
    class Own(TorchAdapter):
        def operations(self, model, example_inputs):
            return [Operation("all", "custom", (), (1,), 4, macs=1, flops=2)]

    assert estimate_model(*small, Own()).flops == 2


def test_names_of_adapters():
    import neural_cost.adapters

    assert all(getattr(neural_cost.adapters, name) for name in neural_cost.adapters.__all__)
    with pytest.raises(AttributeError):
        neural_cost.adapters.MindSporeAdapter  # noqa: B018

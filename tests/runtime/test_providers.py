"""Providers of a GPU that is not there, by pretenders: none may become a run on the CPU without a word."""

import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnxruntime
import pytest

import neural_cost
from neural_cost.analyzer.errors import BackendError, ProviderError
from neural_cost.cli import main
from neural_cost.models import path
from neural_cost.runtime import free_memory, profiled_run, providers
from neural_cost.runtime.free_memory import foreseen
from neural_cost.runtime.gpus import Gpu
from neural_cost.runtime.profile import WARMUP
from neural_cost.runtime.profile import _of_device as told_of_device
from neural_cost.runtime.profile_events import Executed
from neural_cost.runtime.profile_events import Profile as Events
from neural_cost.runtime.profiled_run import ProfiledRun
from neural_cost.runtime.providers import CPU, asked_for
from neural_cost.runtime.session import Session, SessionOptions, elsewhere, open_session

CUDA = "CUDAExecutionProvider"
REAL = onnxruntime.InferenceSession


@pytest.fixture
def falls_back(monkeypatch):
    """An ONNX Runtime that has CUDA, goes on without it, and prints about it, as the real one does."""

    def session(model, settings, providers, **options):
        print("*************** EP Error ***************")
        return REAL(model, onnxruntime.SessionOptions(), providers=[CPU])

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [CUDA, CPU])
    monkeypatch.setattr(onnxruntime, "InferenceSession", session)


@pytest.mark.usefixtures("falls_back")
def test_a_provider_that_does_not_start_is_an_error(capsys):
    with pytest.raises(ProviderError, match=f"{CUDA} is installed and does not start: ONNX Runtime fell back to {CPU}"):
        open_session(path("dnn"), SessionOptions(provider="cuda"))
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("falls_back")
def test_so_it_is_in_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["neural-cost", "profile", str(path("dnn")), "--provider", "cuda"])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (3, "")
    assert "does not start" in " ".join(said.err.split())


@pytest.mark.usefixtures("falls_back")
def test_the_library_that_is_missing_is_named(monkeypatch, tmp_path):
    """A library that the system's loader refuses: here it is no library at all."""
    file = tmp_path / "capi" / "libonnxruntime_providers_cuda.so"
    file.parent.mkdir()
    file.write_text("nothing")
    monkeypatch.setattr(onnxruntime, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(ProviderError, match=r"does not start: .*libonnxruntime_providers_cuda.so: .*; ONNX Runtime"):
        open_session(path("dnn"), SessionOptions(provider="cuda"))


def test_what_tensorrt_leaves_is_cudas_to_do(monkeypatch):
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["TensorrtExecutionProvider", CUDA, CPU])
    assert asked_for("TensorrtExecutionProvider") == ["TensorrtExecutionProvider", CUDA]
    assert asked_for(CUDA) == [CUDA]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["TensorrtExecutionProvider", CPU])
    assert asked_for("TensorrtExecutionProvider") == ["TensorrtExecutionProvider"]


def test_who_did_the_rest_is_told():
    assert elsewhere(CUDA, {CUDA: 5}, "nodes") == []
    assert elsewhere(CUDA, {CUDA: 3, CPU: 1}, "nodes") == [f"{CUDA} did not have all nodes: of them had {CPU} 25%"]
    (none,) = elsewhere(CUDA, {CPU: 4}, "nodes")
    assert none.endswith(f"{CPU} 100%: it is no run on {CUDA} at all")


Part = namedtuple("Part", ["ep_name", "nodes"])


def pretender(provider, parts=()):
    """A session on a provider, whose nodes are shared out like this."""
    made = [SimpleNamespace(ep_name=name, get_nodes=lambda nodes=nodes: ["node"] * nodes) for name, nodes in parts]
    handle = SimpleNamespace(get_providers=lambda: [provider, CPU], get_provider_graph_assignment_info=lambda: made)
    return Session(handle, 0.0, SessionOptions(provider=provider))


def test_a_session_tells_of_nodes_that_the_cpu_has():
    assert pretender(CUDA, [(CUDA, 4)]).notes() == []
    (told,) = pretender(CUDA, [(CUDA, 6), (CPU, 1), (CPU, 1)]).notes()
    assert told == f"{CUDA} did not have all nodes: of them had {CPU} 25%"


def test_copies_in_the_time_are_told():
    (told,) = pretender("ROCMExecutionProvider", [("ROCMExecutionProvider", 1)]).notes()
    assert told.startswith("inputs and outputs lie in the memory of the host")


def test_the_real_one_tells_who_has_each_node():
    """What the pretender stands for: the recorded assignment of a session on the CPU."""
    settings = onnxruntime.SessionOptions()
    settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    handle = REAL(str(path("cnn")), settings, providers=[CPU])
    if not hasattr(handle, "get_provider_graph_assignment_info"):
        pytest.skip("this onnxruntime does not tell")
    parts = handle.get_provider_graph_assignment_info()
    assert {part.ep_name for part in parts} == {CPU}
    assert sum(len(part.get_nodes()) for part in parts) > 5


def events(*shares):
    kernels = [Executed("k", "Add", provider, seconds, 1) for provider, seconds in shares]
    return Events(kernels, 1.0, 1.0, None, [])


def test_kernels_that_ran_elsewhere_are_told():
    (told,) = told_of_device(pretender(CUDA, [(CUDA, 1)]), events((CUDA, 3e-3), (CPU, 1e-3)))
    assert told == f"{CUDA} did not have all of the time of kernels: of them had {CPU} 25%"
    assert list(told_of_device(pretender(CPU), events((CPU, 1.0)))) == []


def test_times_of_kernels_that_are_of_starting_them_are_told():
    """DirectML has no way to wait for each kernel."""
    dml = "DmlExecutionProvider"
    (told,) = told_of_device(pretender(dml, [(dml, 1)]), events((dml, 1.0)))
    assert told.startswith("times of kernels are of starting them")


def order(folder, **options):
    feeds = {"input": np.ones((2, 784), np.float32)}
    fields = {"model": path("dnn"), "folder": None, "feeds": feeds, "scratch": folder, "warmup": 1, "runs": 3}
    return ProfiledRun(**{**fields, "options": SessionOptions(threads=1), **options})


def test_a_device_that_works_by_itself_is_profiled_in_a_process_of_its_own(monkeypatch, tmp_path):
    """The variable stands in that process alone, and the profile is the same as of one here."""
    monkeypatch.setitem(providers.BLOCKING, CPU, "NEURAL_COST_WAIT")
    monkeypatch.setattr(profiled_run, "_here", lambda order: pytest.fail("it ran here"))
    file, whole = profiled_run.profiled_run(order(tmp_path))
    assert whole
    assert file.read_text().count('"model_run"') == 3
    assert (tmp_path / "optimized.onnx").exists()


def test_what_fails_there_is_told_here(monkeypatch, tmp_path):
    monkeypatch.setitem(providers.BLOCKING, CPU, "NEURAL_COST_WAIT")
    with pytest.raises(BackendError, match="cannot be loaded by ONNX Runtime"):
        profiled_run.profiled_run(order(tmp_path, model=b"nothing"))


def test_a_whole_profile_of_such_a_device(monkeypatch):
    monkeypatch.setitem(providers.BLOCKING, CPU, "NEURAL_COST_WAIT")
    found = neural_cost.profile(path("cnn"), budget_s=0.05, threads=1)
    assert found.mapping.unmapped_share == 0
    assert len([event for event in found.events if event["cat"] == "Node"]) >= WARMUP


def test_a_gpu_too_small_is_foreseen(monkeypatch):
    """dnn has 475 KB of weights."""
    small = Gpu(name="small", vendor="NVIDIA", memory_bytes=400_000, driver="1")
    monkeypatch.setattr(free_memory, "detect_gpus", lambda: [small])
    report = neural_cost.analyze(path("dnn"))
    assert foreseen(report) is None
    assert "the GPU has 400.00 KB: the run may fail" in foreseen(report, "cuda")
    monkeypatch.setattr(free_memory, "detect_gpus", list)
    assert foreseen(report, "cuda") is None


@pytest.mark.parametrize("name", ["cuda", "tensorrt", "coreml", "dml", "openvino"])
def test_what_to_do_about_a_provider_that_is_not_there(name):
    if providers.PROVIDERS[name] in onnxruntime.get_available_providers():
        pytest.skip("it is there")
    package = providers.PACKAGES.get(name)
    wanted = f"install {package} in place of onnxruntime" if package else "install an ONNX Runtime that has it"
    with pytest.raises(ProviderError, match=f"provider {name} is not in this ONNX Runtime: {wanted}; here are: .*cpu"):
        neural_cost.profile(path("dnn"), provider=name)


def test_libraries_are_looked_for_before_a_session(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(onnxruntime, "preload_dlls", lambda: print("missing") or asked.append(1), raising=False)
    providers.find_libraries.cache_clear()
    providers.find_libraries(CUDA)
    providers.find_libraries(CUDA)
    providers.find_libraries(CPU)
    assert asked == [1]
    assert capsys.readouterr().out == ""
    assert Path(onnxruntime.__file__).exists()

"""Sessions of ONNX Runtime: provider, threads and level of rewriting as data; and runs that only run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neural_cost.analyzer.errors import BackendError
from neural_cost.runtime.inputs import Array
from neural_cost.runtime.providers import (
    APART,
    CPU,
    MEMORY,
    asked_for,
    check_started,
    did_not_start,
    find_libraries,
    provider_name,
    silent,
)

LEVELS = {
    "disable": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How a model is run.

    Attributes:
        provider: a short name ("cpu", "cuda"...) or ONNX Runtime's own.
        threads: of one operator; None leaves it to ONNX Runtime.
        level: "disable", "basic", "extended" or "all".
        alone: refuse a model of which the provider leaves a node to the CPU.
    """

    provider: str = "cpu"
    threads: int | None = None
    level: str = "all"
    alone: bool = False


@dataclass(frozen=True, eq=False)
class Session:
    """A model that is ready to run.

    Attributes:
        handle: ONNX Runtime's own session.
        seconds: that it took to load.
        options: how it runs.
    """

    handle: Any
    seconds: float
    options: SessionOptions

    def runner(self, feeds: Mapping[str, Array]) -> Callable[[], object]:
        """A call that runs the model once on these inputs, which are bound before."""
        names = [output.name for output in self.handle.get_outputs()]
        if any(array.dtype == np.object_ for array in feeds.values()):  # strings, which cannot be bound
            return lambda: self.handle.run(names, dict(feeds))
        binding = self.handle.io_binding()
        for name, value in self._values(feeds).items():
            binding.bind_ortvalue_input(name, value)
        device = self.memory
        for output in self.handle.get_outputs():
            binding.bind_output(output.name, device if output.type.startswith("tensor(") else "cpu")

        def run() -> None:
            self.handle.run_with_iobinding(binding)
            binding.synchronize_outputs()

        return run

    def outputs(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Results by name, for comparison."""
        names = [output.name for output in self.handle.get_outputs()]
        return dict(zip(names, self.handle.run(names, dict(feeds)), strict=True))

    @property
    def provider(self) -> str:
        """ONNX Runtime's name of what it runs on."""
        return str(self.handle.get_providers()[0])

    @property
    def memory(self) -> str:
        """Where inputs and outputs lie, as ONNX Runtime calls it."""
        return MEMORY.get(self.provider, "cpu")

    def notes(self) -> list[str]:
        """What a run does that is not the provider's work: nodes that the CPU has, and copies of inputs to a device."""
        found = []
        if self.provider in APART and self.memory == "cpu":
            found.append(f"inputs and outputs lie in the memory of the host: copies to {self.provider} are in the time")
        tell = getattr(self.handle, "get_provider_graph_assignment_info", None)
        if self.provider == CPU or tell is None:  # an older ONNX Runtime does not tell
            return found
        counts = Counter[str]()
        for part in tell():
            counts[part.ep_name] += len(part.get_nodes())
        return [*found, *elsewhere(self.provider, counts, "nodes")]

    def _values(self, feeds: Mapping[str, Array]) -> dict[str, Any]:
        types = {each.name: each.type for each in self.handle.get_inputs()}
        return {name: _value(array, types.get(name, ""), self.memory) for name, array in feeds.items()}


def open_session(
    model: Path | bytes,
    options: SessionOptions,
    *,
    name: object = "the model",
    folder: Path | None = None,
    profile: Path | None = None,
    optimized: Path | None = None,
) -> Session:
    """Load a model.

    Args:
        model: its file, or the bytes of one.
        options: how it is run.
        name: what a model is called that comes as bytes.
        folder: where the weights of a model lie that comes as bytes.
        profile: prefix of the file that a profile is written to.
        optimized: where the graph is written to after its rewrites, its weights beside it.

    Raises:
        BackendError: the provider is not there or does not start, or ONNX Runtime refuses the model.
    """
    import onnxruntime

    provider = provider_name(options.provider)
    find_libraries(provider)
    settings = _settings(options, folder=folder, profile=profile, optimized=optimized)
    start = time.perf_counter()
    given = model if isinstance(model, bytes) else str(model)
    try:
        with silent():
            handle = onnxruntime.InferenceSession(given, settings, providers=asked_for(provider), enable_fallback=0)
    except Exception as error:  # ONNX Runtime raises many types of its own
        if provider != CPU and "Please install" in str(error):  # TensorRT's own library is missing
            raise did_not_start(provider, "ONNX Runtime lacks libraries that it needs") from error
        where = name if isinstance(model, bytes) else model
        raise BackendError(f"{where} cannot be loaded by ONNX Runtime: {_short(error)}") from error
    seconds = time.perf_counter() - start
    check_started(provider, handle.get_providers())
    return Session(handle, seconds, options)


def elsewhere(provider: str, counts: Mapping[str, float], what: str) -> list[str]:
    """A note where other providers than the wanted one did something; empty where it did all."""
    whole = sum(counts.values())
    others = {name: count for name, count in counts.items() if name != provider and count}
    if not others:
        return []
    parts = ", ".join(f"{name} {count / whole:.0%}" for name, count in others.items())
    none = "" if counts.get(provider) else f": it is no run on {provider} at all"
    return [f"{provider} did not have all {what}: of them had {parts}{none}"]


def call(what: str, fn: Callable[[], Any]) -> Any:
    """Run what ONNX Runtime may refuse.

    Raises:
        BackendError: it did; `what` begins the sentence.
    """
    try:
        return fn()
    except BackendError:
        raise
    except Exception as error:
        raise BackendError(f"{what} cannot be run by ONNX Runtime: {_short(error)}") from error


def _settings(options: SessionOptions, *, folder: Path | None, profile: Path | None, optimized: Path | None) -> Any:
    import onnxruntime

    if options.level not in LEVELS:
        raise BackendError(f'there is no level "{options.level}": choose one of {", ".join(LEVELS)}.')
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[options.level])
    if options.threads is not None:
        settings.intra_op_num_threads = options.threads
        settings.inter_op_num_threads = 1
    if provider_name(options.provider) != CPU:
        settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        if options.alone:
            settings.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    if folder is not None:
        settings.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
    if profile is not None:
        settings.enable_profiling = True
        settings.profile_file_prefix = str(profile)
    if optimized is not None:
        settings.optimized_model_filepath = str(optimized)
        beside = "session.optimized_model_external_initializers_"
        settings.add_session_config_entry(f"{beside}file_name", f"{optimized.name}.weights")
        settings.add_session_config_entry(f"{beside}min_size_in_bytes", "1024")
    return settings


def _value(array: Array, kind: str, device: str) -> Any:
    from onnxruntime import OrtValue

    if array.dtype.kind in "biufc":
        return OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array), device, 0)
    import onnx

    names = {f"tensor({name.lower()})": number for name, number in onnx.TensorProto.DataType.items()}
    return OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(f"u{array.dtype.itemsize}"), names[kind])


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300]

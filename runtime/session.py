"""Sessions of ONNX Runtime: provider, threads and level of rewriting as data; and runs that only run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neural_cost.analyzer.errors import BackendError, closest
from neural_cost.runtime.inputs import Array

LEVELS = {
    "disable": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
# short names that do not follow from the provider's own
PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "dml": "DmlExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "rocm": "ROCMExecutionProvider",
    "migraphx": "MIGraphXExecutionProvider",
    "qnn": "QNNExecutionProvider",
    "xnnpack": "XnnpackExecutionProvider",
    "acl": "ACLExecutionProvider",
    "webgpu": "WebGpuExecutionProvider",
}
PACKAGES = {"cuda": "onnxruntime-gpu", "tensorrt": "onnxruntime-gpu", "dml": "onnxruntime-directml",
            "openvino": "onnxruntime-openvino"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How a model is run.

    Attributes:
        provider: a short name ("cpu", "cuda"...) or ONNX Runtime's own.
        threads: of one operator; None leaves it to ONNX Runtime.
        level: "disable", "basic", "extended" or "all".
    """

    provider: str = "cpu"
    threads: int | None = None
    level: str = "all"


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
        device = _device_of(self.handle.get_providers()[0])
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

    def _values(self, feeds: Mapping[str, Array]) -> dict[str, Any]:

        device = _device_of(self.handle.get_providers()[0])
        types = {each.name: each.type for each in self.handle.get_inputs()}
        return {name: _value(array, types.get(name, ""), device) for name, array in feeds.items()}


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
        BackendError: the provider is not there, or ONNX Runtime refuses the model.
    """
    import onnxruntime

    provider = provider_name(options.provider)
    settings = _settings(options, folder=folder, profile=profile, optimized=optimized)
    start = time.perf_counter()
    try:
        handle = onnxruntime.InferenceSession(
            model if isinstance(model, bytes) else str(model), settings, providers=[provider]
        )
    except Exception as error:  # ONNX Runtime raises many types of its own
        where = name if isinstance(model, bytes) else model
        raise BackendError(f"{where} cannot be loaded by ONNX Runtime: {_short(error)}") from error
    seconds = time.perf_counter() - start
    if handle.get_providers()[0] != provider:
        raise BackendError(
            f"{provider} is installed and does not start: ONNX Runtime fell back to {handle.get_providers()[0]}; "
            "check its libraries and driver, or choose another --provider."
        )
    return Session(handle, seconds, options)


def provider_name(name: str) -> str:
    """ONNX Runtime's name of a provider.

    Raises:
        BackendError: it is not there; says which are.
    """
    import onnxruntime

    there = onnxruntime.get_available_providers()
    wanted = PROVIDERS.get(name.lower(), name)
    if wanted in there:
        return wanted
    short = {full: each for each, full in PROVIDERS.items()}
    known = ", ".join(short.get(each, each) for each in there)
    if wanted not in PROVIDERS.values():
        raise BackendError(f'there is no provider "{name}"{closest(name, PROVIDERS)}; here are: {known}.')
    package = PACKAGES.get(short[wanted])
    install = f"install {package} in place of onnxruntime" if package else "install an ONNX Runtime that has it"
    raise BackendError(f"the provider {short[wanted]} is not in this ONNX Runtime: {install}; here are: {known}.")


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


def _device_of(provider: str) -> str:
    """Where inputs and outputs lie for a provider."""
    return {"CUDAExecutionProvider": "cuda", "TensorrtExecutionProvider": "cuda", "DmlExecutionProvider": "dml"}.get(
        provider, "cpu"
    )


def _value(array: Array, kind: str, device: str) -> Any:
    from onnxruntime import OrtValue

    if array.dtype.kind in "biufc":
        return OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array), device, 0)
    import onnx

    names = {f"tensor({name.lower()})": number for name, number in onnx.TensorProto.DataType.items()}
    return OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(f"u{array.dtype.itemsize}"), names[kind])


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:300]

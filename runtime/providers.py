"""Providers of ONNX Runtime: their names, what brings them, where their tensors lie, and whether they start at all.

ONNX Runtime goes on with the CPU where a provider does not start, and says so in its log alone. Here that is an error.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from neural_cost.analyzer.errors import BackendError, ProviderError, closest

CPU = "CPUExecutionProvider"
# short names that do not follow from the provider's own
PROVIDERS = {
    "cpu": CPU,
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
SHORT = {full: short for short, full in PROVIDERS.items()}
PACKAGES = {"cuda": "onnxruntime-gpu", "tensorrt": "onnxruntime-gpu", "dml": "onnxruntime-directml",
            "openvino": "onnxruntime-openvino"}  # fmt: skip
# what ONNX Runtime calls the memory in which a provider computes, where it lets a tensor be put there
MEMORY = {"CUDAExecutionProvider": "cuda", "TensorrtExecutionProvider": "cuda", "DmlExecutionProvider": "dml"}
# providers of a device with memory of its own, to which ONNX Runtime copies each input if it cannot be put there
APART = {*MEMORY, "ROCMExecutionProvider", "MIGraphXExecutionProvider", "WebGpuExecutionProvider"}
ON_GPUS = tuple(short for short, full in PROVIDERS.items() if full in APART)
# variables of a driver with which a kernel is over when its call returns: such a device works by itself, and a profile
# of ONNX Runtime has the time of the call
BLOCKING = {
    "CUDAExecutionProvider": "CUDA_LAUNCH_BLOCKING",
    "TensorrtExecutionProvider": "CUDA_LAUNCH_BLOCKING",
    "ROCMExecutionProvider": "HIP_LAUNCH_BLOCKING",
    "MIGraphXExecutionProvider": "HIP_LAUNCH_BLOCKING",
}
NEXT = {"TensorrtExecutionProvider": "CUDAExecutionProvider"}  # what does the nodes that a provider does not
LIBRARIES = {"CUDAExecutionProvider": "onnxruntime_providers_cuda",
             "TensorrtExecutionProvider": "onnxruntime_providers_tensorrt"}  # fmt: skip


def provider_name(name: str) -> str:
    """ONNX Runtime's name of a provider.

    Raises:
        ProviderError: it is not there; says which are.
    """
    import onnxruntime

    there = onnxruntime.get_available_providers()
    wanted = PROVIDERS.get(name.lower(), name)
    if wanted in there:
        return wanted
    known = ", ".join(SHORT.get(each, each) for each in there)
    if wanted not in PROVIDERS.values():
        raise ProviderError(f'there is no provider "{name}"{closest(name, PROVIDERS)}; here are: {known}.')
    package = PACKAGES.get(SHORT[wanted])
    install = f"install {package} in place of onnxruntime" if package else "install an ONNX Runtime that has it"
    raise ProviderError(f"the provider {SHORT[wanted]} is not in this ONNX Runtime: {install}; here are: {known}.")


def asked_for(provider: str) -> list[str]:
    """What a session is opened with: the provider, and the one that does what it leaves, before the CPU."""
    import onnxruntime

    there = onnxruntime.get_available_providers()
    return [provider, *(each for each in (NEXT.get(provider),) if each in there and each is not None)]


def check_started(provider: str, running: Sequence[str]) -> None:
    """Refuse a session that goes on without its provider.

    Raises:
        ProviderError: it is not the first of those that the session has.
    """
    if running[0] != provider:
        raise did_not_start(provider, f"ONNX Runtime fell back to {running[0]}")


def did_not_start(provider: str, told: str) -> BackendError:
    """The sentence about a provider that is installed and cannot be used."""
    why = _missing_library(provider)
    return ProviderError(
        f"{provider} is installed and does not start: {f'{why}; ' if why else ''}{told}; check its libraries and "
        "driver, or choose another --provider."
    )


@cache
def find_libraries(provider: str) -> None:
    """Load what NVIDIA's packages on PyPI bring, where they are installed: ONNX Runtime does not look there."""
    import onnxruntime

    preload = getattr(onnxruntime, "preload_dlls", None)
    if provider in LIBRARIES and preload is not None:
        with contextlib.suppress(Exception), silent():  # it prints what it misses, which may lie elsewhere
            preload()


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Keep stdout for results: ONNX Runtime prints there what it has to say of providers."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def _missing_library(provider: str) -> str:
    """What the system's loader says of a provider's library; empty where it loads, or there is none."""
    import onnxruntime

    name = LIBRARIES.get(provider)
    folder = Path(onnxruntime.__file__).parent / "capi"
    for file in folder.glob(f"*{name}.*") if name else ():
        try:
            ctypes.CDLL(str(file))
        except OSError as error:
            return str(error)
    return ""

"""Where to measure, as data: this CPU, or a GPU that ONNX Runtime has a provider for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from neural_cost.analyzer.calibration import Rate
from neural_cost.analyzer.cpu_info import CpuInfo
from neural_cost.analyzer.tables.figures import thread_count
from neural_cost.runtime.calibrate.bandwidth import bandwidth_rates, working_sets
from neural_cost.runtime.calibrate.compute import DEVICE_SIZES, SIZES
from neural_cost.runtime.calibrate.copies import COPIED
from neural_cost.runtime.calibrate.device_bandwidth import DEVICE_SETS, device_bandwidth_rates
from neural_cost.runtime.detect import detect_cpu
from neural_cost.runtime.gpus import Gpu, detect_gpus
from neural_cost.runtime.providers import MEMORY, PACKAGES, PROVIDERS

# providers of each vendor's GPUs that let tensors be put into their memory, the fastest first
BY_VENDOR = {"NVIDIA": ("cuda", "dml"), "AMD": ("dml",)}
SHARE_OF_MEMORY = 8  # of a GPU: a working set takes no more than one part in so many
UNTESTED = "measured by a path that was never run on a GPU while it was written: doubt it, and tell of it"

TF32 = "float32 is multiplied as this provider does it: in TF32, where the GPU can"


class Bandwidth(Protocol):
    """How bandwidth over working sets is measured, with so many threads, within so many seconds."""

    def __call__(self, sizes: list[int], threads: int, budget_s: float, waited: Callable[[], object]) -> Iterator[Rate]:
        """Bytes/s at each working set."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to measure.

    Attributes:
        machine: what a calibration of it holds for.
        provider: of ONNX Runtime, by its short name.
        memory: what ONNX Runtime calls the memory that it computes in.
        counts: numbers of threads.
        sizes: n of products of two n x n matrices.
        working_sets: bytes.
        copies: bytes to copy from the host and back; none where the host's memory is its own.
        bandwidth: how that is measured.
        memory_bytes: that it has; None where it does not tell.
        versions: of what else the figures depend on.
        notes: what a reader of the figures must know.
    """

    machine: Mapping[str, Any]
    provider: str
    memory: str
    counts: Sequence[int]
    sizes: tuple[int, ...]
    working_sets: Sequence[int]
    bandwidth: Bandwidth
    copies: Sequence[int] = ()
    memory_bytes: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def named(self, threads: int) -> str:
        """What works at once, for a reader."""
        if self.provider != "cpu":
            return str(self.machine["name"])
        return thread_count(threads)


def this_cpu() -> Place:
    """The CPU, on one thread and on all."""
    info = detect_cpu()
    return Place(
        machine=identity(info),
        provider="cpu",
        memory="cpu",
        counts=sorted({1, usable_threads(info)}),
        sizes=SIZES,
        working_sets=working_sets(info.caches.get("L3") or info.caches.get("L2")),
        bandwidth=bandwidth_rates,
        memory_bytes=info.memory_bytes,
    )


def identity(info: CpuInfo) -> Mapping[str, Any]:
    """What a calibration holds for: another machine, or more or fewer cores, need their own."""
    return {
        "name": info.name,
        "vendor": info.vendor,
        "machine": info.machine,
        "cores": info.cores,
        "threads": info.threads,
        "quota_cpus": info.quota_cpus,
    }


def usable_threads(info: CpuInfo) -> int:
    """Cores that this process may use, or as many as its cgroup gives time for."""
    cores = max(1, info.cores or info.threads)
    return cores if info.quota_cpus is None else max(1, min(cores, round(info.quota_cpus)))


def gpu_place(gpu: Gpu, provider: str) -> Place:
    """A GPU by one of ONNX Runtime's providers. Copies depend on the host too: so it stands in what this holds for."""
    most = None if gpu.memory_bytes is None else gpu.memory_bytes // SHARE_OF_MEMORY
    return Place(
        machine={"name": gpu.name, "vendor": gpu.vendor, "provider": provider, "host": detect_cpu().name},
        provider=provider,
        memory=MEMORY.get(PROVIDERS[provider], "cpu"),
        counts=(1,),
        sizes=DEVICE_SIZES,
        working_sets=[size for size in DEVICE_SETS if most is None or size <= most],
        bandwidth=partial(device_bandwidth_rates, provider),
        copies=[size for size in COPIED if most is None or size <= most],
        memory_bytes=gpu.memory_bytes,
        versions={"driver": gpu.driver},
        notes=(UNTESTED, *([TF32] if provider == "cuda" else [])),
    )


def gpu_places(gpus: Sequence[Gpu] | None = None) -> tuple[list[Place], list[str]]:
    """The GPU that ONNX Runtime takes, if it has a provider for it; and a sentence for each that is left out, and why.

    It takes the first. Where there are several kinds, drivers and libraries may number them differently: then no one
    knows which was measured, and none is.
    """
    import onnxruntime

    found = detect_gpus() if gpus is None else gpus
    there = onnxruntime.get_available_providers()
    names = list(dict.fromkeys(gpu.name for gpu in found))
    if len(names) > 1:
        return [], [f"no GPU was measured: there are several kinds ({', '.join(names)}); let one be visible alone"]
    for gpu in found[:1]:
        fitting = BY_VENDOR.get(gpu.vendor, ())
        provider = next((each for each in fitting if PROVIDERS[each] in there), None)
        if provider is not None:
            return [gpu_place(gpu, provider)], []
        packages = " or ".join(PACKAGES[each] for each in fitting) or "an ONNX Runtime that can use it"
        return [], [f"{gpu.name} was not measured: install {packages} in place of onnxruntime"]
    return [], []

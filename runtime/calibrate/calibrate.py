"""Calibrate: every curve of this machine, for one thread and for all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from neural_cost.analyzer.calibration import NOISY, Calibration, Rate
from neural_cost.analyzer.cpu_info import CpuInfo
from neural_cost.runtime.calibrate.bandwidth import bandwidth_rates, working_sets
from neural_cost.runtime.calibrate.compute import SIZES, TYPES, compute_rates, why_not
from neural_cost.runtime.calibrate.dispatch import dispatch_seconds
from neural_cost.runtime.detect import detect_cpu

SHARE_OF_BANDWIDTH = 0.35
SHARE_OF_DISPATCH = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long and how much to measure; the default takes about 20 seconds."""

    budget_s: float = 20.0
    sizes: tuple[int, ...] = SIZES
    types: tuple[str, ...] = tuple(TYPES)
    working_sets: Sequence[int] | None = None


def calibrate(plan: Plan | None = None, progress: Callable[[str], object] | None = None) -> Calibration:
    """Measure this machine. What else runs on it makes the figures worse: the record says where that was seen."""
    plan = plan or Plan()
    tell = progress or (lambda stage: None)
    info = detect_cpu()
    threads = usable_threads(info)
    counts = sorted({1, threads})
    left_out = {kind: why for kind in plan.types if (why := why_not(kind)) is not None}
    kinds = [kind for kind in plan.types if kind not in left_out]
    waits: list[int] = []

    def waited() -> None:
        waits.append(1)

    def compute(kind: str, count: int, budget_s: float) -> list[Rate]:
        tell(f"arithmetic in {kind}, {count} threads")
        return list(compute_rates(kind, count, budget_s, plan.sizes, waited=waited))

    share = plan.budget_s * (1 - SHARE_OF_BANDWIDTH - SHARE_OF_DISPATCH) / (len(kinds) * len(counts) + 1)
    rates = [rate for kind in kinds for count in counts for rate in compute(kind, count, share)]
    sets = list(plan.working_sets or working_sets(info.caches.get("L3") or info.caches.get("L2")))
    for count in counts:
        tell(f"bandwidth, {count} threads")
        rates += bandwidth_rates(sets, count, plan.budget_s * SHARE_OF_BANDWIDTH / len(counts), waited)
    tell("starting kernels")
    dispatch = dispatch_seconds(plan.budget_s * SHARE_OF_DISPATCH)
    again = compute(kinds[0], 1, share) if kinds else []
    return Calibration(
        machine=identity(info),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        versions={name: version(name) for name in ("onnxruntime", "numpy", "neural-cost")},
        rates=tuple(_better(rates, again)),
        dispatch_s=dispatch,
        memory_bytes=info.memory_bytes,
        left_out=left_out,
        disturbed=tuple(_disturbed(rates, again, len(waits))),
        notes=tuple(_notes()),
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


def _better(rates: Sequence[Rate], again: Sequence[Rate]) -> list[Rate]:
    """The better of two measurements of a point."""
    second = {(rate.what, rate.threads, rate.size): rate for rate in again}
    pairs = [(rate, second.get((rate.what, rate.threads, rate.size), rate)) for rate in rates]
    return [max(pair, key=lambda rate: rate.per_s) for pair in pairs]


def _disturbed(rates: Sequence[Rate], again: Sequence[Rate], waits: int) -> list[str]:
    notes = []
    if waits:
        notes.append(
            f"the machine was loaded: something else had the processor in {waits} of the measurements on one thread"
        )
    first = max((rate.per_s for rate in rates if again and (rate.what, rate.threads) == (again[0].what, 1)), default=0)
    second = max((rate.per_s for rate in again), default=0)
    if first and abs(second / first - 1) > NOISY:
        notes.append(
            f"the machine changed while it was measured: its peak was {first / 1e9:.4g} GFLOP/s at first and "
            f"{second / 1e9:.4g} GFLOP/s at the end"
        )
    return notes


def _notes() -> list[str]:
    if os.environ.get("OPENBLAS_CORETYPE"):
        return ["OPENBLAS_CORETYPE is set: NumPy may be slower than it can be, and reads with it"]
    return []

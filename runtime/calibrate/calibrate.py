"""Calibrate: every curve of this machine, for one thread and for all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, NamedTuple

from neural_cost.analyzer.calibration import NOISY, Calibration, Rate
from neural_cost.analyzer.cpu_info import CpuInfo
from neural_cost.runtime.calibrate.bandwidth import bandwidth_rates, working_sets
from neural_cost.runtime.calibrate.compute import SIZES, TYPES, compute_rates, why_not
from neural_cost.runtime.calibrate.dispatch import dispatch_seconds
from neural_cost.runtime.detect import detect_cpu

SHARE_OF_BANDWIDTH = 0.5
SHARE_OF_DISPATCH = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long and how much to measure; the default takes about 26 seconds.

    Everything is measured `passes` times over, each time with sessions of their own, and the best counts: what disturbs
    comes and goes in seconds, and threads that begin badly stay slow for as long as their session lives.
    """

    budget_s: float = 18.0
    passes: int = 3
    sizes: tuple[int, ...] = SIZES
    types: tuple[str, ...] = tuple(TYPES)
    working_sets: Sequence[int] | None = None


class _Pass(NamedTuple):
    """What one pass found, and how many of its measurements on one thread had to wait for the processor."""

    rates: list[Rate]
    dispatch_s: float
    waits: int


def calibrate(plan: Plan | None = None, progress: Callable[[str], object] | None = None) -> Calibration:
    """Measure this machine. What else runs on it makes the figures worse: the record says where that was seen."""
    plan = plan or Plan()
    tell = progress or (lambda stage: None)
    info = detect_cpu()
    left_out = {kind: why for kind in plan.types if (why := why_not(kind)) is not None}
    kinds = [kind for kind in plan.types if kind not in left_out]
    passes = [_pass(plan, info, kinds, _prefixed(tell, place + 1, plan.passes)) for place in range(plan.passes)]
    return Calibration(
        machine=identity(info),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        versions={name: version(name) for name in ("onnxruntime", "numpy", "neural-cost")},
        rates=tuple(_best_of([each.rates for each in passes])),
        dispatch_s=min(each.dispatch_s for each in passes),
        memory_bytes=info.memory_bytes,
        left_out=left_out,
        disturbed=tuple(_disturbed([each.rates for each in passes], sum(each.waits for each in passes))),
        notes=tuple(_notes()),
    )


def _pass(plan: Plan, info: CpuInfo, kinds: Sequence[str], tell: Callable[[str], object]) -> _Pass:
    """Measure everything once."""
    counts = sorted({1, usable_threads(info)})
    sets = list(plan.working_sets or working_sets(info.caches.get("L3") or info.caches.get("L2")))
    budget_s = plan.budget_s / plan.passes
    share = budget_s * (1 - SHARE_OF_BANDWIDTH - SHARE_OF_DISPATCH) / max(1, len(kinds) * len(counts))
    waits: list[int] = []
    rates: list[Rate] = []
    for count in counts:
        for kind in kinds:
            tell(f"arithmetic in {kind}, {_threads(count)}")
            rates += compute_rates(kind, count, share, plan.sizes, waited=lambda: waits.append(1))
        tell(f"bandwidth, {_threads(count)}")
        each = budget_s * SHARE_OF_BANDWIDTH / len(counts)
        rates += bandwidth_rates(sets, count, each, waited=lambda: waits.append(1))
    tell("starting kernels")
    return _Pass(rates, dispatch_seconds(budget_s * SHARE_OF_DISPATCH), len(waits))


def _prefixed(tell: Callable[[str], object], number: int, passes: int) -> Callable[[str], object]:
    return lambda stage: tell(f"pass {number} of {passes}: {stage}")


def _threads(count: int) -> str:
    return f"{count} thread{'' if count == 1 else 's'}"


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


def _best_of(passes: Sequence[Sequence[Rate]]) -> list[Rate]:
    """The best of all measurements of each point."""
    return [max(same, key=lambda rate: rate.per_s) for same in zip(*passes, strict=True)]


def _disturbed(passes: Sequence[Sequence[Rate]], waits: int) -> list[str]:
    """What was seen that makes figures too low: time that others had, and a peak that was not the same throughout.

    A measurement that had to wait now and then does no harm: another pass has the same point.
    """
    notes = []
    measured = sum(rate.threads == 1 for rates in passes for rate in rates)
    if waits > NOISY * measured:
        notes.append(
            f"the machine was loaded: something else had the processor in {waits} of {measured} measurements on one "
            "thread"
        )
    kind = next((rate.what for rate in passes[0] if rate.what != "bandwidth"), None)
    peaks = [max((r.per_s for r in rates if (r.what, r.threads) == (kind, 1)), default=0.0) for rates in passes]
    if min(peaks) < (1 - NOISY) * max(peaks):
        notes.append(
            f"the machine changed while it was measured: its peak was {max(peaks) / 1e9:.4g} GFLOP/s at best and "
            f"{min(peaks) / 1e9:.4g} GFLOP/s at worst"
        )
    return notes


def _notes() -> list[str]:
    if os.environ.get("OPENBLAS_CORETYPE"):
        return ["OPENBLAS_CORETYPE is set: NumPy may be slower than it can be, and reads with it"]
    return []

"""Calibrate: every curve of a place: this CPU, on one thread and on all, or a GPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from typing import NamedTuple

from neural_cost.analyzer.calibration import COPIES, NOISY, Calibration, Rate
from neural_cost.runtime.calibrate.compute import TYPES, compute_rates, why_not
from neural_cost.runtime.calibrate.copies import copy_rates
from neural_cost.runtime.calibrate.dispatch import dispatch_seconds
from neural_cost.runtime.calibrate.place import Place, this_cpu

SHARE_OF_BANDWIDTH = 0.5
SHARE_OF_DISPATCH = 0.05
SHARE_OF_COPIES = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long and how much to measure; the default takes about 26 seconds on a CPU.

    Everything is measured `passes` times over, each time with sessions of their own, and the best counts: what disturbs
    comes and goes in seconds, and threads that begin badly stay slow for as long as their session lives. What is None
    is as the place has it.
    """

    budget_s: float = 18.0
    passes: int = 3
    sizes: tuple[int, ...] | None = None
    types: tuple[str, ...] = tuple(TYPES)
    working_sets: Sequence[int] | None = None


GPU_PLAN = Plan(budget_s=12.0)


class _Pass(NamedTuple):
    """What one pass found, and how many of its measurements on one thread had to wait for the processor."""

    rates: list[Rate]
    dispatch_s: float
    waits: int


def calibrate(
    plan: Plan | None = None, progress: Callable[[str], object] | None = None, place: Place | None = None
) -> Calibration:
    """Measure this CPU, or another place. What else runs there makes figures worse: the record tells where seen.

    Raises:
        BackendError: the place's provider is not there or does not start, or its copies are wrong.
    """
    plan, place = plan or Plan(), place or this_cpu()
    tell = progress or (lambda stage: None)
    left_out = {kind: why for kind in plan.types if (why := why_not(kind, place.provider)) is not None}
    kinds = [kind for kind in plan.types if kind not in left_out]
    passes = [_pass(plan, place, kinds, _prefixed(tell, number + 1, plan.passes)) for number in range(plan.passes)]
    return Calibration(
        machine=place.machine,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        versions={**_versions(), **place.versions},
        rates=tuple(_best_of([each.rates for each in passes])),
        dispatch_s=min(each.dispatch_s for each in passes),
        memory_bytes=place.memory_bytes,
        left_out=left_out,
        disturbed=tuple(_disturbed([each.rates for each in passes], sum(each.waits for each in passes))),
        notes=(*_notes(), *place.notes),
    )


def _pass(plan: Plan, place: Place, kinds: Sequence[str], tell: Callable[[str], object]) -> _Pass:
    """Measure everything once."""
    sets, sizes = list(plan.working_sets or place.working_sets), plan.sizes or place.sizes
    budget_s = plan.budget_s / plan.passes
    copies_s = budget_s * SHARE_OF_COPIES if place.copies else 0.0
    budget_s -= copies_s
    share = budget_s * (1 - SHARE_OF_BANDWIDTH - SHARE_OF_DISPATCH) / max(1, len(kinds) * len(place.counts))
    waits: list[int] = []
    rates: list[Rate] = []
    for count in place.counts:
        on = place.named(count)
        for kind in kinds:
            tell(f"arithmetic in {kind}, {on}")
            rates += compute_rates(kind, count, share, sizes, waited=lambda: waits.append(1), provider=place.provider)
        tell(f"bandwidth, {on}")
        each = budget_s * SHARE_OF_BANDWIDTH / len(place.counts)
        rates += place.bandwidth(sets, count, each, waited=lambda: waits.append(1))
    if place.copies:
        tell("copies to the device and back")
        rates += copy_rates(place.memory, place.copies, copies_s)
    tell("starting kernels")
    return _Pass(rates, dispatch_seconds(budget_s * SHARE_OF_DISPATCH, place.provider), len(waits))


def _prefixed(tell: Callable[[str], object], number: int, passes: int) -> Callable[[str], object]:
    return lambda stage: tell(f"pass {number} of {passes}: {stage}")


def _versions() -> dict[str, str]:
    import onnxruntime

    return {"onnxruntime": onnxruntime.__version__} | {name: version(name) for name in ("numpy", "neural-cost")}


def _best_of(passes: Sequence[Sequence[Rate]]) -> list[Rate]:
    """The best of all measurements of each point; a pass may lack some of the largest."""
    found: dict[tuple[str, int, int], Rate] = {}
    for rate in chain.from_iterable(passes):
        key = rate.what, rate.threads, rate.size
        found[key] = max(rate, found.get(key, rate), key=lambda each: each.per_s)
    return list(found.values())


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
    kind = next((rate.what for rate in passes[0] if rate.what not in ("bandwidth", *COPIES)), None)
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

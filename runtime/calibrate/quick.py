"""A few figures of this CPU, measured at once: for who asks what the machine is and never calibrated it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from neural_cost.analyzer.calibration import Calibration
from neural_cost.analyzer.device import Device
from neural_cost.runtime.calibrate.bandwidth import working_sets
from neural_cost.runtime.calibrate.calibrate import Plan, calibrate
from neural_cost.runtime.calibrate.store import stored
from neural_cost.runtime.detect import detect_cpu

BUDGET_S = 3.0
SIZES = (256, 512)  # of products: where the best rate is reached
NOTE = "measured in some seconds, in float32 alone: neural-cost hardware --calibrate measures more, and longer"


def measured_device(threads: int | None = None) -> Device:
    """This CPU with so many threads, by default all, as it was calibrated; else as it is measured now."""
    found = stored()
    return quick_device(threads) if found is None else found.device(threads)


def quick_device(threads: int | None = None) -> Device:
    """This CPU by its float32 peak and its bandwidth over working sets, measured once in a process."""
    found = _measured().device(threads)
    return replace(found, confidence="low", notes=(*found.notes, NOTE))


@cache
def _measured() -> Calibration:
    """It is not kept for other processes: what is kept bounds every analysis, and must have all types."""
    caches = detect_cpu().caches
    sets = working_sets(caches.get("L3") or caches.get("L2"))
    few = [*sets[:-1:3], sets[-1]]
    return calibrate(Plan(budget_s=BUDGET_S, passes=1, sizes=SIZES, types=("float32",), working_sets=few))

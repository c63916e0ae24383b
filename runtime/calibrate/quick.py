"""A few figures of this CPU, measured at once: for who asks what the machine is and never calibrated it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from neural_cost.analyzer.device import Device
from neural_cost.runtime.calibrate.bandwidth import working_sets
from neural_cost.runtime.calibrate.calibrate import Plan, calibrate
from neural_cost.runtime.detect import detect_cpu

BUDGET_S = 3.0
SIZES = (256, 512)  # of products: where the best rate is reached
NOTE = "measured in some seconds, in float32 alone: neural-cost hardware --calibrate measures more, and longer"


@cache
def quick_device() -> Device:
    """This CPU by its float32 peak and its bandwidth over working sets. It is not kept for other processes."""
    caches = detect_cpu().caches
    sets = working_sets(caches.get("L3") or caches.get("L2"))
    plan = Plan(budget_s=BUDGET_S, sizes=SIZES, types=("float32",), working_sets=[*sets[:-1:3], sets[-1]])
    found = calibrate(plan).device()
    return replace(found, confidence="low", notes=(*found.notes, NOTE))

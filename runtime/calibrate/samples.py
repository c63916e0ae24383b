"""The best of many samples: what a machine can do is what it did when nothing else was in the way."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import NamedTuple

from neural_cost.runtime.timing import Timing, benchmark


class Best(NamedTuple):
    """The shortest time of a call, how much longer the median one took, and whether the machine was busy."""

    seconds: float
    spread: float
    waited: bool


def best(fn: Callable[[], object], budget_s: float) -> Best:
    """Time a call for as long as it may take; at least five samples are taken."""
    found = benchmark(fn, warmup=2, least=5, budget_s=budget_s, precision=1e-9)
    return _best(found)


def _best(found: Timing) -> Best:
    return Best(found.min_s, median(found.samples) / found.min_s - 1, found.waited(1))

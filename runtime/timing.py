"""Timing: how long a call takes, from many samples, with an interval that says how sure that is.

The protocol: warm-up calls that do not count, garbage collection off, then samples until the 95 % interval of their
median is narrow enough, or the time that they may take is over. The record says which of the two ended it.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal, NamedTuple, TypeAlias

from neural_cost.analyzer.errors import NeuralCostError
from neural_cost.analyzer.intervals import median_interval
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.tables.figures import seconds

StoppedBy: TypeAlias = Literal["interval", "budget", "repeats", "interrupt"]
Call: TypeAlias = Callable[[], object]
Timer: TypeAlias = Callable[[Call, int], float]  # runs a call so many times, and tells the seconds that this took

LEAST_SAMPLE_S = 50e-6  # what is shorter is called several times for one sample, as reading the clock costs time too
WAITING = 1.1  # wall time over CPU time at one thread: above this, something else had the processor


class Until(NamedTuple):
    """When sampling stops: see `benchmark`."""

    repeats: int | None
    least: int
    budget_s: float
    precision: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing(Record):
    """Samples of how long a call takes.

    Attributes:
        samples: seconds of a call, in the order in which they were taken; each the mean of `calls_per_sample`.
        stopped_by: "interval" (narrow enough), "budget" (no more time), "repeats" (as many as wanted), "interrupt".
        warmup: calls before, which do not count.
        calls_per_sample: more than 1 where a call is too short for the clock.
        cpu_s: CPU seconds of all threads of this process while sampling; 0 where nothing is known.
        wall_s: seconds of the sampling.
        context_switches: how often the system took the processor away; None where it does not tell.
    """

    samples: tuple[float, ...]
    stopped_by: StoppedBy
    warmup: int
    calls_per_sample: int
    cpu_s: float
    wall_s: float
    context_switches: int | None

    @property
    def median_s(self) -> float:
        """Median of the samples."""
        return median(self.samples)

    @property
    def min_s(self) -> float:
        """The fastest sample: what a quiet machine can do."""
        return min(self.samples)

    @property
    def ci_s(self) -> tuple[float, float]:
        """95 % interval of the median; all there is where the samples are fewer than 6."""
        return median_interval(self.samples)

    def waited(self, threads: int) -> bool:
        """Whether something else had the processor: known of one thread alone, as more may wait for each other."""
        return threads == 1 and self.cpu_s > 0 and self.wall_s / self.cpu_s > WAITING

    def to_dict(self) -> dict[str, Any]:
        """Every field, and what follows from the samples."""
        found = {"median_s": self.median_s, "min_s": self.min_s, "ci_s": list(self.ci_s)}
        fields = {name: getattr(self, name) for name in self.__slots__}
        return found | fields | {"samples": list(self.samples)}

    def __str__(self) -> str:
        """Median with its interval, and the fastest."""
        low, high = map(seconds, self.ci_s)
        return (
            f"median {seconds(self.median_s)} ({low} to {high}), fastest {seconds(self.min_s)}, "
            f"{len(self.samples)} samples, stopped by {self.stopped_by}"
        )


def benchmark(
    fn: Call,
    *,
    warmup: int = 3,
    repeats: int | None = None,
    least: int = 20,
    budget_s: float = 5.0,
    precision: float = 0.02,
    timer: Timer | None = None,
) -> Timing:
    """Time a call.

    Args:
        fn: what is timed; on a device that works by itself it must wait for its result, or `timer` must.
        warmup: calls before the first sample.
        repeats: take exactly so many samples, whatever they show.
        least: samples to take before the interval is looked at.
        budget_s: seconds after which no further sample is taken; at least one always is.
        precision: the interval's width, as a part of the median on each side, at which sampling ends.
        timer: runs a call n times and tells the seconds; by default by the clock of this machine.

    Raises:
        NeuralCostError: a number that cannot be.
    """
    _check(warmup=warmup, repeats=repeats, least=least, budget_s=budget_s, precision=precision)
    time_of = timer or wall
    for _ in range(warmup):
        fn()
    calls = _calls_per_sample(fn, time_of)
    samples: list[float] = []
    before = _used()
    with paused():
        try:
            stopped_by = _sample(
                lambda: time_of(fn, calls) / calls, samples, Until(repeats, least, budget_s, precision)
            )
        except KeyboardInterrupt:
            if not samples:
                raise
            stopped_by = "interrupt"
    after = _used()
    return Timing(
        samples=tuple(samples),
        stopped_by=stopped_by,
        warmup=warmup,
        calls_per_sample=calls,
        cpu_s=after[1] - before[1],
        wall_s=after[0] - before[0],
        context_switches=None if before[2] is None or after[2] is None else after[2] - before[2],
    )


def wall(fn: Call, calls: int) -> float:
    """Seconds that so many calls take, by this machine's clock."""
    start = time.perf_counter()
    for _ in range(calls):
        fn()
    return time.perf_counter() - start


@contextmanager
def paused() -> Iterator[None]:
    """Keep the garbage collector out of the samples."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _sample(time_of: Callable[[], float], samples: list[float], until: Until) -> StoppedBy:
    """Add samples until there is reason to stop. The interval is looked at each time that a fifth more are there."""
    start = time.perf_counter()
    look = until.least
    while True:
        samples.append(time_of())
        if until.repeats is not None:
            if len(samples) >= until.repeats:
                return "repeats"
            continue
        if len(samples) >= look:
            if _is_narrow(samples, until.precision):
                return "interval"
            look = math.ceil(look * 1.2)
        if time.perf_counter() - start >= until.budget_s:
            return "budget"


def _is_narrow(samples: Sequence[float], precision: float) -> bool:
    (low, high), middle = median_interval(samples), median(samples)
    return max(high - middle, middle - low) <= precision * middle


def _calls_per_sample(fn: Call, time_of: Timer) -> int:
    once = time_of(fn, 1)
    return 1 if once >= LEAST_SAMPLE_S else min(1000, math.ceil(LEAST_SAMPLE_S / max(once, 1e-9)))


def _used() -> tuple[float, float, int | None]:
    """Wall and CPU seconds so far, and how often this process lost the processor."""
    try:
        import resource
    except ImportError:  # Windows
        return time.perf_counter(), time.process_time(), None
    return time.perf_counter(), time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _check(*, warmup: int, repeats: int | None, least: int, budget_s: float, precision: float) -> None:
    if warmup < 0:
        raise NeuralCostError(f"warmup cannot be {warmup}: it is a number of calls, 0 or more.")
    if repeats is not None and repeats < 1:
        raise NeuralCostError(f"repeats cannot be {repeats}: at least one sample is needed.")
    if least < 1:
        raise NeuralCostError(f"least cannot be {least}: at least one sample is needed.")
    if not budget_s >= 0:
        raise NeuralCostError(f"budget_s cannot be {budget_s}: it is a number of seconds, 0 or more.")
    if not precision > 0:
        raise NeuralCostError(f"precision cannot be {precision}: it is a part of the median, above 0.")

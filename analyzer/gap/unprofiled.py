"""What kernels take without a profile, which costs time for each kernel that it notes, some of it within them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

STEPS = 60  # of halving: more than a float can tell apart
CLOCK_S = 1e-6  # a profile tells whole microseconds
# The most that noting an execution may add to its own time: 2 to 3.3 us were measured, with 1,000 kernels that take
# 0.2 us each. That is up to a half of what a profile adds to a run, which is up to 17 us elsewhere. More is no noting.
MOST_S = 10e-6


@dataclass(frozen=True, slots=True)
class Noted:
    """A kernel as a profile notes it.

    Attributes:
        seconds: of all its executions in the median run with a profile.
        executions: in one run.
        least_s: seconds that it took for certain: no more is taken off.
        starts_others: it runs a body: what noting the kernels of that costs is in its own time.
    """

    seconds: float
    executions: int
    least_s: float
    starts_others: bool


def unprofiled(kernels: Sequence[Noted], min_s: float, median_s: float) -> list[float]:
    """Seconds of each kernel in the fastest run without a profile, which took `min_s`; their sum is never more.

    Where it is less already, nothing is done. Else all are first as much shorter as the fastest run is than the median
    one. What is then too much is what noting them costs: that is taken off those that run bodies, then the same for
    each execution of each kernel, as far as it took more than it must, and no more than noting can cost: the shortest
    execution has it in its time too. What is still too much is that something else had the processor while the profile
    was made: that slows all alike, so it is taken off in proportion.
    """
    times = [kernel.seconds for kernel in kernels]
    if sum(times) <= min_s:
        return times
    quieter = max(min(1.0, min_s / median_s), min_s / sum(times))
    times = [quieter * time for time in times]
    times = _less(times, [time if k.starts_others else 0.0 for k, time in zip(kernels, times, strict=True)], min_s)
    room = [max(0.0, time - kernel.least_s) for kernel, time in zip(kernels, times, strict=True)]
    each = min(_most(kernels), _for_each(room, [kernel.executions for kernel in kernels], sum(times) - min_s))
    times = [time - min(each * k.executions, most) for k, time, most in zip(kernels, times, room, strict=True)]
    whole = sum(times)
    return [time * min(1.0, min_s / whole) for time in times] if whole else times


def _most(kernels: Sequence[Noted]) -> float:
    """Seconds that noting an execution adds to it at most; one that runs a body has the cost of that in its own."""
    shortest = min((k.seconds / k.executions for k in kernels if k.executions and not k.starts_others), default=MOST_S)
    return min(MOST_S, shortest + CLOCK_S)


def _less(times: Sequence[float], most: Sequence[float], wanted: float) -> list[float]:
    """Take off in proportion to what may be taken off of each, until the sum is what is wanted, or all is taken."""
    excess, available = sum(times) - wanted, sum(most)
    share = max(0.0, min(1.0, excess / available)) if available else 0.0
    return [time - share * part for time, part in zip(times, most, strict=True)]


def _for_each(room: Sequence[float], executions: Sequence[int], excess: float) -> float:
    """Seconds to take off each execution so that `excess` is taken off in sum, or all the room there is."""
    low, high = 0.0, max((most / count for most, count in zip(room, executions, strict=True)), default=0.0)
    if excess <= 0:
        return 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        taken = sum(min(middle * count, most) for most, count in zip(room, executions, strict=True))
        low, high = (low, middle) if taken >= excess else (middle, high)
    return high

"""What `analyze_gap` takes as measured, checked: a time that is none would make causes of nonsense."""

from __future__ import annotations

from math import isfinite
from numbers import Real
from typing import Protocol, cast

from neural_cost.analyzer.errors import OptionError


class Timed(Protocol):
    """How long a run took: a `Measurement`, a `Timing`."""

    @property
    def median_s(self) -> float:
        """Seconds of the median run."""

    @property
    def min_s(self) -> float:
        """Seconds of the fastest run."""


def times_of(measurement: object) -> Timed:
    """The times of a run, or of the measurement that a `Profile` has.

    Raises:
        OptionError: it has none, or they are no times above 0 of which the fastest is the least.
    """
    found = getattr(measurement, "measurement", measurement)
    median_s, min_s = _number(found, "median_s"), _number(found, "min_s")
    if median_s is None or min_s is None:
        raise OptionError(
            "a gap needs a measurement with median_s and min_s, as profile() and benchmark() give it, "
            f"not {measurement!r}."
        )
    if not (isfinite(median_s) and 0 < min_s <= median_s):
        raise OptionError(
            f"a run with a median of {median_s} s and a fastest of {min_s} s cannot be: both are above 0, and the "
            "fastest is no longer than the median."
        )
    return cast("Timed", found)


def _number(found: object, name: str) -> float | None:
    value = getattr(found, name, None)
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None

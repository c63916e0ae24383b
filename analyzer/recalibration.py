"""A calibration beside the one before it on the same machine: whether they agree, and which of the two is used."""

from __future__ import annotations

from statistics import median

from neural_cost.analyzer.calibration import COPIES, NOISY, Calibration, Rate
from neural_cost.analyzer.tables.figures import thread_count


def ratios(found: Calibration, before: Calibration) -> list[tuple[Rate, float]]:
    """Each point of a calibration with its rate over that before; points that only one has are left out."""
    rates = {(rate.what, rate.threads, rate.size): rate.per_s for rate in before.rates}
    pairs = [(rate, rates.get((rate.what, rate.threads, rate.size))) for rate in found.rates]
    return [(rate, rate.per_s / old) for rate, old in pairs if old]


def disagreement(found: Calibration, before: Calibration) -> str | None:
    """One sentence where the two do not agree within `NOISY`; None where they do."""
    both = ratios(found, before)
    apart = [(rate, ratio) for rate, ratio in both if abs(ratio - 1) > NOISY]
    if not apart:
        return None
    rate, ratio = max(apart, key=lambda pair: max(pair[1], 1 / pair[1]))
    size = f"{rate.size >> 10} KiB" if rate.what in ("bandwidth", *COPIES) else f"n = {rate.size}"
    return (
        f"the machine is noisy, or has changed: {len(apart)} of {len(both)} figures are more than {NOISY:.0%} from "
        f"those of {before.date}, most of all {rate.what} at {size} on {thread_count(rate.threads)}: "
        f"{ratio:.2f} times as fast"
    )


def worse(found: Calibration, before: Calibration) -> str | None:
    """Why a calibration should not take the place of the one before; None where it should.

    What disturbs a measurement only makes it slower: so one that was disturbed is left out if the other was not, or if
    the other is faster.
    """
    if not (doubts := found.doubts):
        return None
    typical = median(ratio for _, ratio in both) if (both := ratios(found, before)) else 1.0
    if before.doubts and typical >= 1 - NOISY:
        return None
    slower = f", and {1 - typical:.0%} slower" if typical < 1 - NOISY else ""
    return f"this calibration is doubtful ({'; '.join(doubts)}){slower}"

"""How sure a median is: an interval of order statistics, which assumes no distribution.

Source: David, Nagaraja, "Order Statistics", 7.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median: of n sorted samples the r-th from below and from above.

    r is the largest for which at most 5 % of all ways that samples can fall put the median outside. Fewer than 6
    samples have none: their extremes are returned.
    """
    ordered = sorted(samples)
    number = len(ordered)
    rank, outside = 0, 0
    while rank < number // 2:
        outside += math.comb(number, rank)
        if outside / 2**number > 0.025:
            break
        rank += 1
    skipped = max(rank - 1, 0)
    return ordered[skipped], ordered[number - 1 - skipped]

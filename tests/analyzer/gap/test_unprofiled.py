"""What noting kernels costs is taken off where it is: never more than there is, and never below what is certain."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neural_cost.analyzer.gap.unprofiled import Noted, unprofiled


def noted(seconds, executions=1, least=0.0, starts=False):
    return Noted(seconds, executions, least, starts)


US = 1e-6


@pytest.mark.parametrize(
    ("kernels", "min_us", "median_us", "times"),
    [
        ([noted(3), noted(4)], 8, 8, [3, 4]),  # what is between them is left
        ([noted(6), noted(6)], 6, 12, [3, 3]),  # the fastest run is twice as fast as the median one
        ([noted(5), noted(5, starts=True)], 7, 7, [5, 2]),  # noting a body is in what runs it
        ([noted(5), noted(5, starts=True)], 4, 4, [4, 0]),
        ([noted(5, 1), noted(9, 4)], 9, 9, [4, 5]),  # 5 too much for 5 executions
        ([noted(5, 1, 5), noted(9, 4)], 10, 10, [5, 5]),  # the first cannot be shorter
        ([noted(5, 1, 5), noted(9, 4, 9)], 7, 7, [2.5, 4.5]),  # bounds that are wrong: in proportion
        # 220 too much for 2 executions, of which noting can be 10 each; the rest is load: 880 of 1,080 are left
        ([noted(100), noted(1000)], 880, 880, [90 * 880 / 1080, 990 * 880 / 1080]),
        # an execution of 2 noted as such, so noting is no more than 3: 2 and 3 are taken off, and 90 of 95 are left
        ([noted(2), noted(98)], 90, 90, [0, 90]),
        # the same, but 1 of the 2 is certain: 1 and 3 are taken off, and 90 of 96 are left
        ([noted(2, 1, 1), noted(98)], 90, 90, [90 / 96, 95 * 90 / 96]),
        # one that runs a body tells nothing of what noting one execution costs: 16 too much, 6 of it the second's own
        ([noted(40, 10), noted(6, starts=True)], 30, 30, [30, 0]),
        ([noted(0), noted(0)], 1, 1, [0, 0]),
        ([], 1, 1, []),
    ],
)
def test_by_hand(kernels, min_us, median_us, times):
    """In microseconds."""
    ran = [replace(kernel, seconds=kernel.seconds * US, least_s=kernel.least_s * US) for kernel in kernels]
    assert unprofiled(ran, min_us * US, median_us * US) == pytest.approx([time * US for time in times], abs=1e-15)


@pytest.mark.parametrize("small", [20, 100, 500])
def test_load_takes_no_small_kernel_away(small):
    """A profile made while all was twice as slow: 10 us at most are taken off the small one, and then half, or so."""
    times = unprofiled([noted(small * US)] + [noted(1000 * US)] * 9, (small + 9000) / 2 * US, (small + 9000) / 2 * US)
    assert times[0] >= (small - 10) * US / 2


SECONDS = st.floats(0, 100, allow_subnormal=False)


@given(
    st.lists(st.builds(Noted, SECONDS, st.integers(1, 50), SECONDS, st.booleans()), max_size=6),
    st.floats(0.001, 500),
    st.floats(1, 5),
)
def test_the_sum_is_never_more(kernels, min_s, slower):
    times = unprofiled(kernels, min_s, slower * min_s)
    whole = sum(kernel.seconds for kernel in kernels)
    assert sum(times) == pytest.approx(min(whole, min_s), rel=1e-6)
    assert all(-1e-12 <= time <= kernel.seconds for kernel, time in zip(kernels, times, strict=True))

"""What noting kernels costs is taken off where it is: never more than there is, and never below what is certain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neural_cost.analyzer.gap.unprofiled import Noted, unprofiled


def noted(seconds, executions=1, least=0.0, starts=False):
    return Noted(seconds, executions, least, starts)


@pytest.mark.parametrize(
    ("kernels", "min_s", "median_s", "times"),
    [
        ([noted(3), noted(4)], 8, 8, [3, 4]),  # what is between them is left
        ([noted(6), noted(6)], 6, 12, [3, 3]),  # the fastest run is twice as fast as the median one
        ([noted(5), noted(5, starts=True)], 7, 7, [5, 2]),  # noting a body is in what runs it
        ([noted(5), noted(5, starts=True)], 4, 4, [4, 0]),
        ([noted(5, 1), noted(9, 4)], 9, 9, [4, 5]),  # 5 too much for 5 executions
        ([noted(5, 1, 5), noted(9, 4)], 10, 10, [5, 5]),  # the first cannot be shorter
        ([noted(5, 1, 5), noted(9, 4, 9)], 7, 7, [2.5, 4.5]),  # bounds that are wrong: in proportion
        ([noted(0), noted(0)], 1, 1, [0, 0]),
        ([], 1, 1, []),
    ],
)
def test_by_hand(kernels, min_s, median_s, times):
    assert unprofiled(kernels, min_s, median_s) == pytest.approx(times)


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

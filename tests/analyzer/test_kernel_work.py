"""Work of several nodes as one kernel: what moves, by hand."""

import pytest

from neural_cost.analyzer.kernel_work import kernel_work
from tests.analyzer.gap.made import analyzed

SWISH = "g (float[100] x) => (float[100] y) { s = Sigmoid(x)  y = Mul(x, s) }"
TWICE = "g (float[100] x, float[100] z) => (float[100] y) { s = Mul(x, x)  t = Add(s, z)  y = Sub(t, z) }"
ROWS = "g (float[100, 10] t, int64[3] i) => (float[3, 10] y) { a = Gather(t, i)  y = Relu(a) }"


@pytest.mark.parametrize(
    ("text", "needed", "moved"),
    [
        (SWISH, {"y"}, 400 + 400),  # x is read once by both, y is written
        (SWISH, {"y", "s"}, 400 + 400 + 400),
        (TWICE, {"y"}, 400 + 400 + 400),
        (ROWS, {"y"}, 120 + 3 * 8 + 120),  # three rows of the table, three indices, the result
    ],
)
def test_bytes_that_a_kernel_moves(text, needed, moved, tmp_path):
    assert kernel_work(analyzed(text, tmp_path).nodes, needed).bytes_moved == moved

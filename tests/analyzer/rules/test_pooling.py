import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

X = (2, 3, 8, 8)

ROWS = [
    Row("max_pool", "MaxPool", [X], [(2, 3, 4, 4)], {"kernel_shape": [2, 2], "strides": [2, 2]},
        other=(2 * 3 * 4 * 4) * (2 * 2), read=4 * (2 * 3 * 8 * 8), write=4 * (2 * 3 * 4 * 4)),
    Row("max_pool_indices", "MaxPool", [X], [(2, 3, 6, 6), ((2, 3, 6, 6), "int64")], {"kernel_shape": [3, 3]},
        other=(2 * 3 * 6 * 6) * 9, write=(4 + 8) * (2 * 3 * 6 * 6)),
    Row("max_pool_skips", "MaxPool", [X], [(2, 3, 4, 4)], {"kernel_shape": [1, 1], "strides": [2, 2]},
        other=2 * 3 * 4 * 4, read=4 * (2 * 3 * 4 * 4)),  # every other row and column is not read
    Row("max_pool_tail", "MaxPool", [(1, 1, 9)], [(1, 1, 4)], {"kernel_shape": [2], "strides": [2]},
        other=4 * 2, read=4 * 8),  # the ninth element falls outside every window
    Row("max_pool_dilated", "MaxPool", [(1, 1, 9)], [(1, 1, 5)], {"kernel_shape": [3], "dilations": [2]},
        other=5 * 3, read=4 * 9),
    Row("max_pool_padded", "MaxPool", [X], [(2, 3, 4, 4)],
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
        other=(2 * 3 * 4 * 4) * 9, read=4 * (2 * 3 * 8 * 8)),  # padding counts as data, and is not read
    Row("average_pool", "AveragePool", [X], [(2, 3, 6, 6)], {"kernel_shape": [3, 3]},
        other=(2 * 3 * 6 * 6) * (9 + 1), special=2 * 3 * 6 * 6),  # nine adds, a division
    Row("lp_pool_2", "LpPool", [X], [(2, 3, 7, 7)], {"kernel_shape": [2, 2]},
        other=(2 * 3 * 7 * 7) * (4 * 2 + 1), special=2 * 3 * 7 * 7),  # square, add; a root
    Row("lp_pool_1", "LpPool", [X], [(2, 3, 7, 7)], {"kernel_shape": [2, 2], "p": 1},
        other=(2 * 3 * 7 * 7) * (4 * 2)),  # absolute, add
    Row("lp_pool_3", "LpPool", [X], [(2, 3, 7, 7)], {"kernel_shape": [2, 2], "p": 3},
        other=(2 * 3 * 7 * 7) * (4 * 3 + 1), special=(2 * 3 * 7 * 7) * (4 + 1)),  # absolute, POW, add; POW
    Row("global_max_pool", "GlobalMaxPool", [X], [(2, 3, 1, 1)], other=2 * 3 * 64, read=4 * 384, write=4 * 6),
    Row("global_average_pool", "GlobalAveragePool", [X], [(2, 3, 1, 1)], other=2 * 3 * (64 + 1), special=2 * 3),
    Row("global_lp_pool", "GlobalLpPool", [X], [(2, 3, 1, 1)], other=2 * 3 * (64 * 2 + 1), special=2 * 3),
    Row("max_unpool", "MaxUnpool", [(1, 1, 2, 2), ((1, 1, 2, 2), "int64")], [(1, 1, 4, 4)],
        {"kernel_shape": [2, 2]}, read=4 * 4 + 4 * 8, write=4 * 16),
    Row("nhwc_max_pool", "NhwcMaxPool", [((2, 8, 8, 3), "uint8")], [((2, 4, 4, 3), "uint8")],
        {"kernel_shape": [1, 2], "strides": [2, 2]}, domain="com.microsoft",
        other=(2 * 4 * 4 * 3) * 2, read=2 * 4 * 8 * 3, write=96),  # every other row
    Row("max_pool_with_mask", "MaxpoolWithMask", [X, (X, "int32")], [(2, 3, 7, 7)], {"kernel_shape": [2, 2]},
        domain="com.microsoft", other=(2 * 3 * 7 * 7) * 4, read=2 * 4 * 384),
    Row("blocked_max_pool", "MaxPool", [X], [(2, 3, 7, 7)], {"kernel_shape": [2, 2]}, domain="com.microsoft.nchwc",
        other=(2 * 3 * 7 * 7) * 4),
    Row("blocked_average_pool", "AveragePool", [X], [(2, 3, 7, 7)], {"kernel_shape": [2, 2]},
        domain="com.microsoft.nchwc", other=(2 * 3 * 7 * 7) * 5, special=2 * 3 * 7 * 7),
    Row("blocked_global_max_pool", "GlobalMaxPool", [X], [(2, 3, 1, 1)], domain="com.microsoft.nchwc", other=6 * 64),
    Row("blocked_global_average_pool", "GlobalAveragePool", [X], [(2, 3, 1, 1)], domain="com.microsoft.nchwc",
        other=6 * 65, special=6),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["pooling"], ROWS) == {("", "MaxRoiPool")}  # refused, below


def test_max_roi_pool_is_unknown() -> None:
    with pytest.raises(Unknown, match="size of each region"):
        cost_of("MaxRoiPool", [X, (5, 5)], [(5, 3, 2, 2)], pooled_shape=[2, 2])

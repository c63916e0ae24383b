import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

ROWS = [
    # 3 x 3: rows below the pivots 2 and 1, so 3 DIVISIONS and 2 * (4 + 1) multiplies and subtracts; 2 multiplies
    Row("det", "Det", [(5, 3, 3)], [(5,)], other=5 * (3 + 2 * 5 + 2), special=5 * 3, read=4 * 45, write=4 * 5),
    Row("det_1", "Det", [(1, 1)], [()]),
    # 3 pivots of 3 DIVISIONS; the 2 other rows x 3 elements of a multiply and a subtract
    Row("inverse", "Inverse", [(5, 3, 3)], [(5, 3, 3)], domain="com.microsoft",
        other=5 * (3 * 3 + 3 * 2 * 3 * 2), special=5 * 9),
    # 4 x 6 pairs of 8 elements: subtract, multiply, add; SQRT
    Row("cdist", "CDist", [(4, 8), (6, 8)], [(4, 6)], {"metric": "euclidean"}, domain="com.microsoft",
        other=24 * (3 * 8 + 1), special=24),
    Row("cdist_default", "CDist", [(4, 8), (6, 8)], [(4, 6)], domain="com.microsoft", other=24 * 3 * 8),
    Row("cdist_city", "CDist", [(4, 8), (6, 8)], [(4, 6)], {"metric": "cityblock"}, domain="com.microsoft",
        other=24 * 3 * 8),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["matrices"], ROWS) == set()


def test_metric_without_formula_is_unknown() -> None:
    with pytest.raises(Unknown, match="braycurtis"):
        cost_of("CDist", [(4, 8), (6, 8)], [(4, 6)], domain="com.microsoft", metric="braycurtis")

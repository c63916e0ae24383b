import sympy

from neural_cost.analyzer.rules.sorting import log2_ceil
from tests.analyzer.rules.table import Row, parametrize, untested

ROWS = [
    # one comparison for each of 2 x 100 elements, then 5 winners in ceil(log2(5)) = 3 steps each
    Row("top_k", "TopK", [(2, 100), ((1,), "int64")], [(2, 5), ((2, 5), "int64")], other=200 + (2 * 5) * 3,
        read=4 * 200 + 8, write=10 * (4 + 8)),
    Row("top_k_unsorted", "TopK", [(2, 100), ((1,), "int64")], [(2, 5), ((2, 5), "int64")], {"sorted": 0}, other=200),
    Row("top_k_attribute", "TopK", [(100, 2)], [(1, 2), ((1, 2), "int64")], {"k": 1, "axis": 0}, version=1, other=200),
    Row("top_k_indices_alone", "TopK", [(2, 100), ((1,), "int64")], [None, ((2, 8), "int64")], other=200 + 16 * 3,
        write=16 * 8),
    # 12 elements of ceil(log2(12)) = 4 steps, and 12 comparisons with the one before
    Row("unique", "Unique", [(3, 4)], [(7,)], other=12 * 4 + 12, read=48, write=28),
    # 3 rows of 4 elements, ceil(log2(3)) = 2
    Row("unique_rows", "Unique", [(3, 4)], [(2, 4)], {"axis": 0}, other=(3 * 2 + 3) * 4),
    Row("contrib_unique", "Unique", [(12,)], [(7,), ((12,), "int64"), ((7,), "int64")], domain="com.microsoft",
        other=12 * 4 + 12),
    # 2 x 3 lists of 10 boxes sorted in ceil(log2(10)) = 4 steps; 8 selected boxes against 10
    Row("nms", "NonMaxSuppression", [(2, 10, 4), (2, 3, 10)], [((8, 3), "int64")],
        other=(2 * 3) * (10 * 4) + (8 * 10) * 19, special=8 * 10, read=4 * (80 + 60), write=8 * 24),
    # a threshold for each of 60 scores; corners of 20 boxes
    Row("nms_centers", "NonMaxSuppression", [(2, 10, 4), (2, 3, 10), ((1,), "int64"), (1,), (1,)], [((8, 3), "int64")],
        {"center_point_box": 1}, other=60 + 20 * 6 + (2 * 3) * (10 * 4) + (8 * 10) * 19, special=8 * 10),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["sorting"], ROWS) == set()


def test_logarithm_of_a_symbol_agrees_with_that_of_numbers() -> None:
    n = sympy.Symbol("n", integer=True, positive=True)
    assert [log2_ceil(n).subs(n, size) for size in (1, 2, 3, 1000, 1024)] == [0, 1, 2, 10, 10]
    assert [log2_ceil(size) for size in (0, 1, 2, 3, 1000, 1024)] == [0, 0, 1, 2, 10, 10]

from tests.analyzer.rules.table import Row, parametrize, untested

ROWS = [
    Row("gather_rows", "Gather", [(1000, 64), ((2, 7), "int64")], [(2, 7, 64)],
        read=4 * (2 * 7 * 64) + 8 * 14, write=4 * (2 * 7 * 64)),  # 14 of 1000 rows
    Row("gather_small_table", "Gather", [(2, 64), ((128,), "int64")], [(128, 64)],
        read=4 * (2 * 64) + 8 * 128, write=4 * (128 * 64)),  # two rows, taken many times, are read once
    Row("gather_elements", "GatherElements", [(4, 9), ((2, 9), "int64")], [(2, 9)], read=4 * 18 + 8 * 18, write=4 * 18),
    Row("gather_nd", "GatherND", [(5, 6, 7), ((3, 2), "int64")], [(3, 7)], read=4 * 21 + 8 * 6, write=4 * 21),
    Row("slice", "Slice", [(10, 20), ((1,), "int64"), ((1,), "int64"), ((1,), "int64")], [(10, 5)],
        read=4 * 50 + 3 * 8, write=4 * 50),
    Row("slice_attributes", "Slice", [(10, 20)], [(10, 5)], {"starts": [0], "ends": [5]}, version=1, read=4 * 50),
    Row("compress", "Compress", [(10, 4), ((10,), "bool")], [(3, 4)], {"axis": 0}, read=4 * 12 + 10, write=4 * 12),
    Row("scatter_elements", "ScatterElements", [(3, 5), ((1, 2), "int64"), (1, 2)], [(3, 5)],
        read=4 * 15 + 8 * 2 + 4 * 2, write=4 * 15),
    Row("scatter_elements_add", "ScatterElements", [(3, 5), ((1, 2), "int64"), (1, 2)], [(3, 5)],
        {"reduction": "add"}, other=2),
    Row("scatter_nd_max", "ScatterND", [(4, 4), ((2, 1), "int64"), (2, 4)], [(4, 4)], {"reduction": "max"}, other=8),
    Row("scatter", "Scatter", [(3, 5), ((1, 2), "int64"), (1, 2)], [(3, 5)], version=9, write=4 * 15),
    Row("tensor_scatter", "TensorScatter", [(2, 4, 100, 8), (2, 4, 1, 8), ((2,), "int64")], [(2, 4, 100, 8)],
        version=24, read=4 * (2 * 4 * 99 * 8) + 4 * (2 * 4 * 1 * 8) + 2 * 8, write=4 * (2 * 4 * 100 * 8)),
    Row("one_hot", "OneHot", [((6,), "int64"), ((), "int64"), (2,)], [(6, 10)], read=6 * 8 + 8 + 2 * 4, write=4 * 60),
    Row("non_zero", "NonZero", [(3, 5)], [((2, 4), "int64")], other=15, read=4 * 15, write=8 * 8),  # x != 0
    Row("reverse_sequence", "ReverseSequence", [(7, 2), ((2,), "int64")], [(7, 2)], read=4 * 14 + 16, write=4 * 14),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["indexing"], ROWS) == set()

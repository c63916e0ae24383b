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
    Row("contrib_gather_nd", "GatherND", [(5, 6), ((3, 1), "int64")], [(3, 6)], domain="com.microsoft",
        read=4 * 18 + 8 * 3, write=4 * 18),
    Row("torch_embedding", "TorchEmbedding", [(100, 8), ((3,), "int64")], [(3, 8)], domain="com.microsoft",
        read=4 * 24 + 8 * 3, write=4 * 24),
    # 3 rows of 64: 4 bits each, a scale of 2 bytes and a zero point of 4 bits for each block of 32; subtract, too
    Row("gather_block_int4", "GatherBlockQuantized",
        [((100, 64), "uint4"), ((3,), "int64"), ((100, 2), "float16"), ((100, 2), "uint4")], [((3, 64), "float16")],
        {"block_size": 32, "quantize_axis": 1}, domain="com.microsoft",
        other=3 * 192, read=192 // 2 + 3 * 8 + 6 * 2 + 6 // 2, write=2 * 192, other_type="float16"),
    # the same packed in bytes, without zero points: convert, multiply
    Row("gather_block_packed", "GatherBlockQuantized", [((100, 32), "uint8"), ((3,), "int64"), (100, 2)], [(3, 64)],
        {"block_size": 32, "quantize_axis": 1}, domain="com.microsoft",
        other=2 * 192, read=96 + 3 * 8 + 6 * 4, other_type="float32"),
    Row("gather_block_packed_zeros", "GatherBlockQuantized",
        [((100, 32), "uint8"), ((3,), "int64"), (100, 2), ((100, 1), "uint8")], [(3, 64)],
        {"block_size": 32, "quantize_axis": 1}, domain="com.microsoft", other=3 * 192, read=96 + 3 * 8 + 6 * 4 + 3),
    Row("gather_block_whole_row", "GatherBlockQuantized", [((100, 64), "float8e4m3fn"), ((3,), "int64"), (100, 1)],
        [(3, 64)], {"block_size": 0, "quantize_axis": 1}, domain="com.microsoft",
        other=2 * 192, read=192 + 3 * 8 + 3 * 4),
    Row("gather_packed", "GatherPacked", [((100, 36), "uint8"), ((3,), "int64")], [((3, 64), "bfloat16")], {"K": 64},
        domain="com.microsoft", other=2 * 192, read=3 * 36 + 3 * 8, write=2 * 192, other_type="bfloat16"),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["indexing"], ROWS) == set()

from tests.analyzer.rules.make import tensor
from tests.analyzer.rules.table import Row, parametrize, untested

ROWS = [
    Row("concat", "Concat", [(2, 3), (2, 4)], [(2, 7)], {"axis": 1}, read=4 * 14, write=4 * 14),
    Row("concat_twice_the_same", "Concat", [tensor("x", (2, 3)), tensor("x", (2, 3))], [(4, 3)], {"axis": 0},
        read=4 * 6, write=4 * 12),
    Row("depth_to_space", "DepthToSpace", [(1, 8, 2, 3)], [(1, 2, 4, 6)], {"blocksize": 2}, read=4 * 48, write=4 * 48),
    Row("space_to_depth", "SpaceToDepth", [(1, 2, 4, 6)], [(1, 8, 2, 3)], {"blocksize": 2}, read=4 * 48, write=4 * 48),
    Row("expand", "Expand", [(3, 1), ((2,), "int64")], [(3, 8)], read=4 * 3 + 16, write=4 * 24),
    Row("split", "Split", [(2, 6), ((2,), "int64")], [(2, 2), (2, 4)], {"axis": 1}, read=4 * 12 + 16, write=4 * 12),
    Row("split_attribute", "Split", [(2, 6)], [(2, 2), (2, 4)], {"axis": 1, "split": [2, 4]}, version=2,
        read=4 * 12, write=4 * 12),
    Row("tile", "Tile", [(2, 3), ((2,), "int64")], [(4, 9)], read=4 * 6 + 16, write=4 * 36),
    Row("transpose_half", "Transpose", [((2, 3, 4), "float16")], [((4, 3, 2), "float16")], read=2 * 24, write=2 * 24),
    Row("trilu", "Trilu", [(4, 4)], [(4, 4)], read=4 * 16, write=4 * 16),
    Row("pad", "Pad", [(2, 3), ((4,), "int64"), ()], [(4, 6)], read=4 * 6 + 32 + 4, write=4 * 24),
    Row("pad_cuts", "Pad", [(2, 9), ((4,), "int64")], [(4, 6)], read=4 * (2 * 6) + 32, write=4 * 24),
    Row("pad_attribute", "Pad", [(2, 3)], [(4, 6)], {"pads": [1, 1, 1, 2]}, version=2, read=4 * 6, write=4 * 24),
    Row("center_crop_pad", "CenterCropPad", [(10, 4), ((2,), "int64")], [(6, 8)], read=4 * (6 * 4) + 16, write=4 * 48),
    Row("col2im", "Col2Im", [(1, 5, 20), ((2,), "int64"), ((2,), "int64")], [(1, 1, 5, 5)],
        other=5 * 20, read=4 * 100 + 32, write=4 * 25),  # each column element is added once
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["movement"], ROWS) == set()

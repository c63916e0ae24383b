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
    Row("restore_padding", "RestorePadding", [(10, 8), ((2, 7), "int32")], [(2, 7, 8)], domain="com.microsoft",
        read=4 * 80 + 4 * 14, write=4 * 112),
    # 10 of 14 tokens are kept; an add for each of 2 counts and 14 places
    Row("remove_padding", "RemovePadding", [(2, 7, 8), ((2,), "int32")],
        [(10, 8), ((2, 7), "int32"), ((3,), "int32"), ((1,), "int32")], domain="com.microsoft",
        other=2 + 14, read=4 * 80 + 4 * 2, write=4 * 80 + 4 * (14 + 3 + 1), other_type="int32"),
    Row("contrib_trilu", "Trilu", [(4, 4)], [(4, 4)], domain="com.microsoft", read=64, write=64),
    Row("unfold", "UnfoldTensor", [(10,)], [(8, 3)], {"size": 3}, domain="com.microsoft", read=40, write=96),
    Row("contrib_pad", "Pad", [(2, 3), ((4,), "int64")], [(4, 6)], domain="com.microsoft", read=24 + 32, write=96),
    # 2 batches of 6 channels with a history of 3, in buffers of 1000
    Row("conv_state_replay", "ConvStateReplay",
        [(1000,), (1000,), (1000,), tensor("metadata", (8,), "int64", [0, 0, 0, 2, 6, 3, 4, 1])], [(1000,)],
        domain="com.microsoft", read=4 * 36 + 64, write=4 * 36),
    Row("reorder_input", "ReorderInput", [(1, 8, 4, 4)], [(1, 8, 4, 4)], domain="com.microsoft.nchwc",
        read=512, write=512),
    Row("reorder_output", "ReorderOutput", [(1, 8, 4, 4)], [(1, 6, 4, 4)], domain="com.microsoft.nchwc",
        read=512, write=4 * 96),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["movement"], ROWS) == set()

import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

X = (1, 3, 8, 8)
SCALES = ((4,), "float32")

ROWS = [
    Row("resize_nearest_up", "Resize", [X, None, SCALES], [(1, 3, 16, 16)], read=4 * 192 + 16, write=4 * 768),
    Row("resize_nearest_down", "Resize", [X, None, SCALES], [(1, 3, 4, 2)], read=4 * (3 * 4 * 2) + 16, write=4 * 24),
    Row("resize_linear", "Resize", [X, None, SCALES], [(1, 3, 16, 16)], {"mode": "linear"},
        other=(3 * 16 * 16) * (4 + 3), read=4 * 192 + 16),  # 2 x 2 taps: 4 multiplies, 3 adds
    Row("resize_linear_one_axis", "Resize", [X, None, SCALES], [(1, 3, 8, 16)], {"mode": "linear"},
        other=(3 * 8 * 16) * (2 + 1)),
    Row("resize_linear_far_down", "Resize", [X, None, SCALES], [(1, 3, 2, 2)], {"mode": "linear"},
        other=(3 * 2 * 2) * (4 + 3), read=4 * (3 * 4 * 4) + 16),  # two taps of two: four of eight rows
    Row("resize_cubic", "Resize", [X, None, SCALES], [(1, 3, 16, 16)], {"mode": "cubic"},
        other=(3 * 16 * 16) * (16 + 15)),
    Row("resize_antialias", "Resize", [X, None, SCALES], [(1, 3, 2, 16)], {"mode": "linear", "antialias": 1},
        other=(3 * 2 * 16) * (16 + 15), read=4 * 192 + 16),  # 2 taps x 8 / 2 down, 2 taps up
    Row("resize_same_size", "Resize", [X, None, SCALES], [X], {"mode": "linear"}, read=4 * 192 + 16),
    Row("resize_crop", "Resize", [X, (8,), SCALES], [X],
        {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"},
        other=192 * (4 + 3)),  # the region may move, though the size stays
    Row("upsample_old", "Upsample", [X], [(1, 3, 16, 16)], {"mode": "bilinear", "height_scale": 2.0}, version=1,
        other=768 * 7),
    Row("upsample_nearest", "Upsample", [X, SCALES], [(1, 3, 16, 16)], version=9, read=4 * 192 + 16),
    # 20 points of 2 coordinates (multiply, add, floor, two subtracts), 4 weights of one multiply; 7 for each value
    Row("grid_sample", "GridSample", [X, (1, 4, 5, 2)], [(1, 3, 4, 5)],
        other=20 * (2 * 5 + 4 * 1) + 60 * (4 + 3), read=4 * 192 + 4 * 40),
    Row("grid_sample_nearest", "GridSample", [X, (1, 4, 5, 2)], [(1, 3, 4, 5)], {"mode": "nearest"},
        other=20 * (2 * 3), read=4 * 60 + 4 * 40),  # multiply, add, round; no sums
    Row("grid_sample_3d", "GridSample", [(1, 2, 4, 4, 4), (1, 2, 3, 5, 3)], [(1, 2, 2, 3, 5)], {"mode": "bilinear"},
        version=16, other=30 * (3 * 5 + 8 * 2) + 60 * (8 + 7)),
    # coordinates: multiply, add, floor, subtract; distances 3; weights 5 + 5 + 6 + 6
    Row("grid_sample_cubic", "GridSample", [X, (1, 4, 5, 2)], [(1, 3, 4, 5)], {"mode": "cubic"},
        other=20 * (2 * (4 + 3 + 22) + 16 * 1) + 60 * (16 + 15)),
    Row("affine_grid_2d", "AffineGrid", [(2, 2, 3), ((4,), "int64")], [(2, 5, 6, 2)], macs=(2 * 5 * 6) * (2 * 3)),
    Row("affine_grid_3d", "AffineGrid", [(2, 3, 4), ((5,), "int64")], [(2, 4, 5, 6, 3)],
        macs=(2 * 4 * 5 * 6) * (3 * 4), compute_type="float32"),
    # 4 samples of 4 multiplies, 3 adds and an add; a division; points: 2 coordinates x 5, 4 weights
    Row("roi_align", "RoiAlign", [(1, 3, 8, 8), (5, 4), ((5,), "int64")], [(5, 3, 2, 2)], {"sampling_ratio": 2},
        other=60 * (4 * 8 + 1) + (5 * 2 * 2 * 4) * (2 * 5 + 4), special=60, read=4 * (192 + 20) + 8 * 5),
    Row("roi_align_max", "RoiAlign", [(1, 3, 8, 8), (5, 4), ((5,), "int64")], [(5, 3, 2, 2)],
        {"sampling_ratio": 1, "mode": "max"}, other=60 * 8 + 20 * 14),
    Row("contrib_grid_sample", "GridSample", [X, (1, 4, 5, 2)], [(1, 3, 4, 5)], domain="com.microsoft",
        other=20 * (2 * 5 + 4) + 60 * 7),
    Row("blocked_upsample", "Upsample", [X], [(1, 3, 16, 16)], {"mode": "linear"}, domain="com.microsoft.nchwc",
        other=768 * 7),
    # 5 crops of 2 x 2 points: 2 coordinates, 4 weights; 4 multiplies and 3 adds for each value
    Row("crop_and_resize", "CropAndResize", [X, (5, 4), ((5,), "int32"), ((2,), "int32")], [(5, 3, 2, 2)],
        domain="com.microsoft", other=20 * (2 * 5 + 4) + 60 * 7, read=4 * (192 + 20) + 4 * 5 + 4 * 2),
    Row("crop_and_resize_nearest", "CropAndResize", [X, (5, 4), ((5,), "int32"), ((2,), "int32")], [(5, 3, 2, 2)],
        {"mode": "nearest"}, domain="com.microsoft", other=20 * (2 * 3), read=4 * (60 + 20) + 4 * 5 + 4 * 2),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["sampling"], ROWS) == set()


def test_adaptive_roi_align_is_unknown() -> None:
    with pytest.raises(Unknown, match="sampling_ratio 0"):
        cost_of("RoiAlign", [X, (5, 4), ((5,), "int64")], [(5, 3, 2, 2)])


def test_undefined_mode_is_unknown() -> None:
    with pytest.raises(Unknown, match="lanczos"):
        cost_of("Resize", [X, None, SCALES], [(1, 3, 16, 16)], mode="lanczos")

"""Kernels that index, search, fill or interpolate, to be timed: nothing else is as slow, or as fast, for an element."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from onnx import TensorProto

from neural_cost.runtime.calibrate.kernels.others import LENGTHS, RUNS
from neural_cost.runtime.calibrate.kernels.spec import Operand, Spec, scalar, whole

ELEMENTS = (1, 1 << 10, 1 << 15, 1 << 18)
COLUMNS = 16  # of what is indexed element by element
SLOW = 8  # times as long for an element as a sum takes: fewer copies are timed at once
SLOWEST = 256  # the same for a cubic interpolation


def irregular() -> Iterator[Spec]:
    """By elements, or by runs of them and how long those are."""
    for count in ELEMENTS:
        yield from _by_element(count)
    for runs, length in product(RUNS, LENGTHS):
        yield from _by_run(runs, length)
    for rows, columns, kept in product((1, 256), (64, 512, 4096), (1, 8, 64)):
        yield Spec("TopK", (rows, columns, kept), "TopK", [Operand((rows, columns)), whole(kept)], outputs=2,
                   work=SLOW * rows * columns)  # fmt: skip
    for side, channels in product((14, 56), (8, 64)):
        yield from _of_images(side, channels)


def _by_element(count: int) -> Iterator[Spec]:
    sizes, line = (count,), Operand((count,))
    rows, columns = (count // COLUMNS, COLUMNS) if count > COLUMNS else (1, count)
    table, places = Operand((rows, columns)), Operand((rows, columns), TensorProto.INT64)
    slow = SLOW * count
    yield Spec("CumSum", sizes, "CumSum", [line, scalar(0)], work=slow)
    yield Spec("CumSum first", sizes, "CumSum", [table, scalar(0)])
    answers = Operand((2,), constant=True)
    depth = max(1, count // COLUMNS)
    classes = Operand((min(count, COLUMNS),), TensorProto.INT64)
    yield Spec("OneHot", sizes, "OneHot", [classes, scalar(depth), answers], work=slow)
    if rows > 1:  # indices are 0 and 1
        yield Spec("GatherElements", sizes, "GatherElements", [table, places], {"axis": 1}, work=slow)
        yield Spec("GatherElements first", sizes, "GatherElements", [table, places], {"axis": 0}, work=slow)
        yield Spec("ScatterElements", sizes, "ScatterElements", [table, places, table], {"axis": 1}, work=slow)
    yield Spec("NonZero", sizes, "NonZero", [Operand((count,), TensorProto.BOOL)], work=slow)
    yield Spec("Trilu", sizes, "Trilu", [table])
    yield Spec("ConstantOfShape", sizes, "ConstantOfShape", [whole(count)])
    yield Spec("Range", sizes, "Range", [scalar(0), scalar(count), scalar(1)])


def _by_run(runs: int, length: int) -> Iterator[Spec]:
    sizes, rows = (runs, length), Operand((runs, length))
    places = Operand((runs, 1), TensorProto.INT64)
    yield Spec("GatherND", sizes, "GatherND", [Operand((2, length), constant=True), places])
    yield Spec("ScatterND", sizes, "ScatterND", [rows, places, rows])
    yield Spec("Tile", sizes, "Tile", [Operand((runs // 2, length)), whole(1, 2)])


def _of_images(side: int, channels: int) -> Iterator[Spec]:
    count, image = side**2 * channels, Operand((1, channels, side, side))
    yield Spec("DepthToSpace", (count,), "DepthToSpace", [image], {"blocksize": 2}, work=SLOW * count)
    yield Spec("SpaceToDepth", (count,), "SpaceToDepth", [image], {"blocksize": 2})
    scales = Operand((4,), constant=True, values=(1, 1, 2, 2))
    made = 4 * count
    yield Spec("Resize cubic", (made,), "Resize", [image, None, scales], {"mode": "cubic"}, work=SLOWEST * made)
    grid = Operand((1, side, side, 2))
    yield Spec("GridSample", (side**2, channels), "GridSample", [image, grid], work=SLOW * count)

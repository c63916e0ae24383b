"""Between the sizes that were timed: by hand."""

from __future__ import annotations

import json

import pytest

from neural_cost.analyzer.calibration import Calibration, Rate
from neural_cost.analyzer.kernel_rates import Curve, KernelPoint, KernelRates
from tests.analyzer.prediction.made import table

LINE = Curve(((10,),), {(10,): 5.0})
GRID = Curve(((1, 3), (10, 20)), {(1, 10): 1.0, (1, 20): 2.0, (3, 10): 3.0, (3, 20): 6.0})


@pytest.mark.parametrize(
    ("sizes", "seconds", "far"),
    [
        ((1, 10), 1.0, False),
        ((2, 10), 2.0, False),  # half way between 1 and 3
        ((2, 15), 3.0, False),  # the mean of all four
        ((3, 40), 12.0, False),  # beyond: twice the largest size takes twice as long
        ((0.5, 10), 1.0, False),  # below: no faster
        ((13, 10), 13.0, True),  # more than 4 times the largest
        ((3, 2), 3.0, True),
    ],
)
def test_between_and_beyond(sizes, seconds, far):
    found = GRID.at(sizes)
    assert found.seconds == pytest.approx(seconds)
    assert found.far is far


def test_a_size_that_the_work_grows_with_the_square_of():
    squared = Curve(((2, 4),), {(2,): 4.0, (4,): 16.0}, square=0)
    assert squared.at((3,)).seconds == pytest.approx(9)
    assert squared.at((8,)).seconds == pytest.approx(64)


@pytest.mark.parametrize(
    ("size", "seconds"),
    [
        (20, 6.0),  # on the line through (10, 4) and (20, 6)
        (10, 4.0),
        (5, 3.0),  # and further on along it
        (0, 2.0),
    ],
)
def test_fewer_places_than_were_timed_go_on_along_the_line(size, seconds):
    line = Curve(((10, 20),), {(10,): 4.0, (20,): 6.0}, places=0)
    assert line.at((size,)).seconds == pytest.approx(seconds)


def test_fewer_places_are_never_faster_than_in_proportion():
    steep = Curve(((10, 20),), {(10,): 4.0, (20,): 12.0}, places=0)
    assert steep.at((5,)).seconds == pytest.approx(2)  # the line would be at 0
    falling = Curve(((10, 20),), {(10,): 4.0, (20,): 3.0}, places=0)
    assert falling.at((5,)).seconds == pytest.approx(4)  # nor slower than the smallest
    assert Curve(((10,),), {(10,): 4.0}, places=0).at((5,)).seconds == pytest.approx(4)
    both = Curve(((10, 20), (1, 3)), {(10, 1): 4.0, (20, 1): 6.0, (10, 3): 8.0, (20, 3): 12.0}, places=0)
    assert both.at((5, 2)).seconds == pytest.approx(4.5)  # half way between 3 and 6


def test_a_long_run_is_as_good_as_several():
    found = table({"Concat": {(1, 100): 1.0, (10, 100): 10.0}})
    assert found.seconds("Concat", (1, 400)).seconds == pytest.approx(4e-6)
    assert found.seconds("Split", (1, 400)) is None


def rates(**more) -> KernelRates:
    points = [
        KernelPoint(kind="Relu", threads=n, sizes=(s,), seconds=s / n, spread=0.1) for n in (1, 4) for s in (1, 8)
    ]
    return KernelRates(
        date="2026-01-01", versions={}, points=tuple(points), run_s={1: 0.5, 4: 0.25}, nchwc_block=16,
        cold={1: 0.0, 4: 0.0}, cache_bytes=1, left_out={}, **more,
    )  # fmt: skip


def test_the_nearest_number_of_threads_that_was_timed():
    assert rates().table(1).seconds("Relu", (8,)).seconds == 8
    assert rates().table(4).seconds("Relu", (8,)).seconds == 2
    assert (rates().table(3).threads, rates().table(3).asked) == (4, 3)
    assert rates().table(2).threads == 1


def test_a_kind_whose_grid_has_a_hole_is_left_out():
    hole = KernelPoint(kind="Concat", threads=1, sizes=(1, 2), seconds=1.0, spread=0.0)
    other = KernelPoint(kind="Concat", threads=1, sizes=(2, 4), seconds=1.0, spread=0.0)
    found = KernelRates(**{**{n: getattr(rates(), n) for n in rates().__slots__}, "points": (hole, other)})
    assert found.table(1).seconds("Concat", (1, 2)) is None


def test_kept_and_read_again():
    kept = json.loads(json.dumps(rates(notes=("loaded",)).to_dict()))
    assert KernelRates.from_dict(kept) == rates(notes=("loaded",))


def test_a_calibration_of_before_has_none():
    made = Calibration(
        machine={"name": "Made"},
        date="2026-01-01",
        versions={},
        rates=(Rate(what="float32", threads=1, size=64, per_s=1e9, spread=0.0),),
        dispatch_s=0.0,
        left_out={},
        kernels=rates(),
    )
    data = json.loads(json.dumps(made.to_dict()))
    assert Calibration.from_dict(data).kernels == rates()
    del data["kernels"]
    assert Calibration.from_dict(data).kernels is None


@pytest.mark.parametrize(
    "damage",
    [
        {"points": []},
        {"points": [["Relu", 1, [8], -1.0, 0.1]]},
        {"points": [["Relu", 1, [8], float("nan"), 0.1]]},
        {"points": [["Relu", 1, [8], "1", 0.1]]},
        {"points": [["Relu", 1, [0], 1.0, 0.1]]},
        {"points": [["Relu", 1, ["8"], 1.0, 0.1]]},
        {"points": [["Relu", 1, [], 1.0, 0.1]]},
        {"points": [["Relu", 1, [8], 1.0, 0.1], ["Relu", 1, [8, 8], 1.0, 0.1]]},
        {"points": [["Relu", 2, [8], 1.0, 0.1]]},
        {"run_s": {}},
        {"run_s": {"1": -1.0, "4": 1.0}},
        {"cold": {"1": 0.0}},
        {"nchwc_block": "16"},
        {"nchwc_block": -16},
        {"cache_bytes": None},
    ],
)
def test_a_damaged_file_is_refused(damage):
    KernelRates.from_dict(rates().to_dict())
    with pytest.raises((KeyError, TypeError, ValueError)):
        KernelRates.from_dict({**rates().to_dict(), **damage})


def test_sizes_of_another_sort_are_not_known():
    """A kind over one size, asked for with two: another version of the program timed it."""
    table = rates().table(1)
    kind, curve = next(iter(table.curves.items()))
    assert table.seconds(kind, curve.axes[0][:1] * len(curve.axes)) is not None
    assert table.seconds(kind, (8,) * (len(curve.axes) + 1)) is None

"""Labels find a place, or none; none lies on another."""

from dataclasses import replace
from math import cos, radians, sin
from pathlib import Path

import onnx
import pytest

import neural_cost
from neural_cost.models import path
from neural_cost.render.plots.labels import Box, Spot, along, place, spread
from tests.render.plots.pictures import FATES, MATMUL, SHEET, box, labels, overlapping, report_of

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
FRAME = Box(0, 0, 200, 100)


@pytest.mark.parametrize(
    ("file", "least"),
    [
        (LIGHT / "light_resnet50.onnx", 4),
        (LIGHT / "light_densenet121.onnx", 4),
        (path("transformer"), 4),
        (path("lstm"), 1),
    ],
    ids=lambda value: getattr(value, "stem", value),
)
@pytest.mark.parametrize("device", ["A100", "T4"])
def test_labels_of_real_models_overlap_nothing(file, least, device):
    figure = neural_cost.plot(neural_cost.analyze(file, device=device))
    found = labels(figure)
    assert len(found) >= least
    others = [text for axes in figure.axes for text in axes.texts if "ridge" in text.get_text()]
    assert overlapping([box(text) for _, text in found] + [box(text) for text in others]) == []
    assert all(box(axes).holds(box(text)) for axes, text in found)
    roofs = [box(text) for text in figure.axes[0].texts if "FLOP/s" in text.get_text()]
    assert len(roofs) >= 3
    assert overlapping(roofs) == []


def test_roofs_that_lie_close_have_labels_apart(tmp_path):
    close = {"float64": 1.00e12, "float32": 1.01e12, "tf32": 1.02e12, "float16": 1.03e12, "int8": 1.04e12}
    figure = neural_cost.plot(report_of(MATMUL, tmp_path, device=replace(SHEET, peaks=close)))
    found = [box(text) for text in figure.axes[0].texts if "TFLOP/s" in text.get_text()]
    assert len(found) == 5
    assert overlapping(found) == []


def test_slopes_that_lie_close_have_labels_apart(tmp_path):
    curve = ((1 << 16, 100e9), (1 << 26, 14.5e9), (1 << 27, 13e9))  # the last two are a tenth apart
    wide = replace(SHEET, kind="measured", bandwidth_curve=curve, peaks={"float32": 1e12, "int8": 1e16})
    figure = neural_cost.plot(report_of(FATES, tmp_path, device=wide))
    found = [_lying_flat(figure.axes[0], text) for text in figure.axes[0].texts if "GB/s" in text.get_text()]
    assert len(found) == 3
    assert overlapping(found) == []


def _lying_flat(axes, text):
    """The room of a text along a slope, in a frame that is turned as the slope is."""
    angle = radians(text.get_rotation())
    x, y = axes.transData.transform(text.get_position())
    text.set_rotation(0)
    flat = box(text)
    along_, across = x * cos(angle) + y * sin(angle), y * cos(angle) - x * sin(angle)
    return Box(along_, across, along_ + flat.right - flat.left, across + flat.top - flat.bottom)


def test_a_label_takes_the_nearest_place_that_is_free():
    beside = place((40, 10), (100, 50), FRAME, [])
    assert beside is not None
    taken = place((40, 10), (100, 50), FRAME, [beside])
    assert taken is not None
    assert not taken.overlaps(beside)
    assert FRAME.holds(taken)


def test_a_label_spares_points_and_stays_clear_of_its_own():
    at = (100.0, 50.0)
    first = place((40, 10), at, FRAME, [])
    assert first is not None
    in_the_middle = Spot((first.left + first.right) / 2, (first.bottom + first.top) / 2, 1000.0)
    second = place((40, 10), at, FRAME, [], [in_the_middle])
    assert second is not None
    assert not second.covers(in_the_middle)
    far = place((40, 10), at, FRAME, [], radius=20.0)
    assert far is not None
    assert not far.covers(Spot(*at, 0.0, radius=19.0))


def test_no_room_is_no_label():
    assert place((201, 10), (100, 50), FRAME, []) is None
    assert place((40, 10), (100, 50), FRAME, [FRAME]) is None


def test_positions_are_spread_as_little_as_needed():
    assert spread([10, 50, 90], 20, 0, 100) == [10, 50, 90]
    assert spread([10, 12, 90], 20, 0, 100) == [10, 30, 90]
    assert spread([10, 95, 99], 20, 0, 100) == [10, 80, 100]


def test_the_room_along_a_slope_follows_it():
    flat = along((0, 0), 0.0, (30, 10), 2.0)
    assert [(b.left, b.bottom, b.right, b.top) for b in flat] == [(0, 2, 10, 12), (10, 2, 20, 12), (20, 2, 30, 12)]
    steep = along((0, 0), 3.141592653589793 / 4, (30, 10), 2.0)
    assert steep[-1].right > steep[0].right
    assert steep[-1].top == pytest.approx(steep[0].top + 20 / 2**0.5)

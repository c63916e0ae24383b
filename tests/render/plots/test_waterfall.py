"""Bars of the gap add up, and a fault goes back."""

import pytest

from neural_cost.analyzer.gap.record import Cause, Gap
from neural_cost.render.plots.style import plain_style
from neural_cost.render.plots.waterfall import draw_waterfall, rows


def gap(*causes, measured=10e-3, floor=4e-3, violated=False):
    return Gap(
        measured_s=measured, floor_s=floor, limited_by="compute", device="d", kind="measured",
        causes=tuple(Cause(name, seconds) for name, seconds in causes), bound_violated=violated, nodes={},
    )  # fmt: skip


FOUND = gap(("overlap", 0.0), ("fusion", 1e-3), ("kernel", 5.5e-3), ("bound violated", -0.5e-3))


def drawn(found):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4))
    FigureCanvasAgg(figure)
    with plain_style():
        axes = figure.add_axes((0.1, 0.2, 0.8, 0.7))
        draw_waterfall(axes, found)
    return axes


def test_each_bar_begins_where_the_one_before_ends():
    assert rows(FOUND) == [
        ("floor", 0.0, 4e-3),
        ("fusion", 4e-3, 1e-3),
        ("kernel", 5e-3, 5.5e-3),
        ("bound violated", pytest.approx(10.5e-3), -0.5e-3),
        ("measured", 0.0, 10e-3),
    ]


def test_bars_stand_in_the_unit_of_the_axis():
    axes = drawn(FOUND)
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]
    wanted = [(0, 4), (4, 5), (5, 10.5), (10.5, 10), (0, 10)]
    assert bars == [(pytest.approx(low), pytest.approx(high)) for low, high in wanted]
    assert axes.get_xlabel() == "time of a run, ms"
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [name for name, _, _ in rows(FOUND)]
    assert "overlap" in axes.get_title("left")
    assert "-500 us, -5.0%" in [text.get_text() for text in axes.texts]


def test_what_is_taken_off_twice_goes_back_twice():
    found = gap(("kernel", 7e-3), ("bound violated", -0.75e-3), ("left out", -0.25e-3))
    starts = [start for _, start, _ in rows(found)]
    assert starts == [0.0, 4e-3, pytest.approx(11e-3), pytest.approx(10.25e-3), 0.0]


def test_a_violated_bound_is_the_title():
    assert "Bound violated" in drawn(gap(("bound violated", -1e-3), measured=3e-3, violated=True)).get_title("left")
    assert "Bound violated" not in drawn(FOUND).get_title("left")


def test_a_small_fault_has_a_bar_and_a_small_cause_is_named():
    found = gap(("fusion", 1e-9), ("kernel", 6e-3), ("left out", -1e-9))
    assert [name for name, _, _ in rows(found)] == ["floor", "kernel", "left out", "measured"]
    assert "fusion" in drawn(found).get_title("left")

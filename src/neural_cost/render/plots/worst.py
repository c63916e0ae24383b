"""The points where most time goes, each with its name and what is lost there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, pi, sqrt
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.tables.figures import clean, seconds, share
from neural_cost.analyzer.tables.text import shorten
from neural_cost.render.plots.labels import Box, Spot, place
from neural_cost.render.plots.roofline import box_of
from neural_cost.render.plots.style import FAINT, INK, SMALL, halo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from neural_cost.render.plots.points import Point

SHOWN = 6
LEAST_SHARE = 0.01  # of the time: what is lost below that is not worth a label
SAME_PLACE = 7.0  # pixels within which points are one to the eye
NAME_CELLS = 32


@dataclass(frozen=True, slots=True)
class Placed:
    """A point, and where it is drawn: in which axes, and in pixels, as its radius is."""

    point: Point
    axes: Axes
    data: tuple[float, float]
    pixels: tuple[float, float]
    radius: float


def placed(
    axes: Axes, points: Sequence[Point], places: Sequence[tuple[float, float]], sizes: Sequence[float]
) -> list[Placed]:
    """Points with their places; sizes are areas in square points."""
    per_point = axes.figure.dpi / 72
    pixels = [(float(x), float(y)) for x, y in map(axes.transData.transform, places)]
    radii = [sqrt(size / pi) * per_point for size in sizes]
    return [Placed(*each) for each in zip(points, [axes] * len(points), places, pixels, radii, strict=True)]


def label_worst(drawn: Sequence[Placed], whole_s: float, taken: Sequence[Box], spare: Sequence[Spot]) -> list[Any]:
    """Label the points that lose most; those that lie under one label are counted in it.

    Returns:
        The labels, as matplotlib's texts. One that fits nowhere is left out.
    """
    groups = _worst(drawn, whole_s)
    taken = [*taken, *(Box(x, y, x, y).grown(5) for x, y in (group[0].pixels for group in groups))]
    found: list[Any] = []
    for group in groups:
        text = _label(group, whole_s)
        box = box_of(text)
        spot = place(
            (box.right - box.left, box.top - box.bottom),
            group[0].pixels,
            Box(*group[0].axes.get_window_extent().extents).grown(-3),
            taken,
            spare,
            group[0].radius,
        )
        if spot is None:
            text.remove()
            continue
        taken.append(spot.grown(2))
        _put(text, spot, group[0])
        found.append(text)
    return found


def _worst(drawn: Sequence[Placed], whole_s: float) -> list[list[Placed]]:
    """Groups of points at one place, the one with most to lose first, as far as they are shown."""
    lossy = [each for each in drawn if each.point.lost_s > 0]
    groups: list[list[Placed]] = []
    for each in sorted(lossy, key=lambda each: -each.point.lost_s):
        for group in groups:
            if _same_place(group[0], each):
                group.append(each)
                break
        else:
            groups.append([each])
    ranked = sorted(groups, key=lambda group: -_lost(group))
    return [group for group in ranked[:SHOWN] if _lost(group) >= LEAST_SHARE * whole_s]


def _same_place(first: Placed, second: Placed) -> bool:
    if first.axes is not second.axes or first.point.group != second.point.group:
        return False
    return hypot(first.pixels[0] - second.pixels[0], first.pixels[1] - second.pixels[1]) <= SAME_PLACE


def _lost(group: Sequence[Placed]) -> float:
    return sum(each.point.lost_s for each in group)


def _label(group: Sequence[Placed], whole_s: float) -> Any:
    """The text, not yet in its place."""
    point = group[0].point
    fused = f" + {point.more} fused" if point.more else ""
    others = f" and {len(group) - 1} more" if len(group) > 1 else ""
    lost = _lost(group)
    told = f"{seconds(lost)} above {'their' if others else 'its'} bound" if point.compared else seconds(lost)
    text = f"{shorten(clean(point.name), NAME_CELLS)}{fused}{others}\n{told}, {share(lost, whole_s)} of the time"
    return group[0].axes.text(
        0, 0, text, fontsize=SMALL, color=INK, va="bottom", ha="left", transform=None, zorder=5,
        path_effects=halo(),
    )  # fmt: skip


def _put(text: Any, spot: Box, group: Placed) -> None:
    """Into its place, with a line to the point."""
    axes = group.axes
    back = axes.transData.inverted()
    text.set_transform(axes.transData)
    text.set_position(back.transform((spot.left, spot.bottom)))
    x = min(max(group.pixels[0], spot.left), spot.right)
    y = min(max(group.pixels[1], spot.bottom), spot.top)
    end = back.transform((x, y))
    axes.plot([group.data[0], end[0]], [group.data[1], end[1]], color=FAINT, linewidth=0.8, zorder=4)

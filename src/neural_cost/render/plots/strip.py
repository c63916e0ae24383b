"""Below the roofline: what computes nothing, by the bytes/s that it moves."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import TYPE_CHECKING

from neural_cost.render.plots.ceilings import rate
from neural_cost.render.plots.roofline import LINES, Ceilings, areas, scatter
from neural_cost.render.plots.style import INK
from neural_cost.render.plots.worst import Placed, placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from neural_cost.render.plots.points import Points

LANES = (0.5, 0.3, 0.7, 0.4, 0.6)  # heights in turn, so that points at one rate are seen as several


def draw_strip(axes: Axes, found: Points, ceilings: Ceilings) -> list[Placed]:
    """Draw the points, and a line at the bandwidth of each level of memory."""
    rates = [point.bytes_per_s for point in found.movers]
    limits = [slope.bytes_per_s for slope in ceilings.slopes]
    axes.set(xscale="log", ylim=(0, 1), yticks=[])
    axes.set_xlim(*_decades([*rates, *limits]))
    axes.xaxis.set_major_formatter(lambda value, _: rate(value).replace(" ", ""))
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    for limit, line in zip(limits, LINES * len(limits), strict=False):
        axes.axvline(limit, linestyle=line, linewidth=1.4, color=INK, zorder=1.5)
    places = [(at, LANES[k % len(LANES)]) for k, at in enumerate(rates)]
    sizes = areas((*found.points, *found.movers), found.seconds)[len(found.points) :]
    scatter(axes, found.movers, places, sizes)
    axes.set_xlabel(f"without arithmetic: B/s {'reached' if found.measured else 'at best'}")
    return placed(axes, found.movers, places, sizes)


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """Powers of ten around them."""
    return float(10 ** floor(log10(min(values)))), float(10 ** (floor(log10(max(values))) + 1))

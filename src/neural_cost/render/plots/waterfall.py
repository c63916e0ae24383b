"""The gap as a waterfall: from the floor, cause by cause, to the measured time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neural_cost.analyzer.gap.record import CAUSES, Cause, Gap
from neural_cost.analyzer.tables.figures import TIMES, plain, seconds, share
from neural_cost.render.plots.style import ALARM, FAINT, INK, SMALL, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST, ROUNDING = 0.0005, 1e-9  # of the measured time: what is not shown, and what is no number but rounding
FIGURES, BESIDE = 130.0, 8.0  # pixels: of a bar's figures, between a bar and what explains it
ROOM = 1.22  # of the longest bar: its figures stand beside it
FLOOR, CAUSE, MEASURED = "#0072B2", "#E69F00", "#555555"


def rows(gap: Gap) -> list[tuple[str, float, float]]:
    """Name, start and length of each bar in seconds, top down; causes of next to no time have none."""
    found = [("floor", 0.0, gap.floor_s)]
    reached = gap.floor_s
    for cause in gap.causes:
        if _seen(cause, gap):
            found.append((cause.cause, reached, cause.seconds))
        reached += cause.seconds
    return [*found, ("measured", 0.0, gap.measured_s)]


def draw_waterfall(axes: Axes, gap: Gap) -> None:
    """A bar for each part, begun where the one before ends; time that is taken off stands in the alarm's colour."""
    found = rows(gap)
    unit, scale = next(((unit, scale) for unit, scale in TIMES if gap.measured_s >= scale), ("ns", 1e-9))
    scaled = [(name, start / scale, length / scale) for name, start, length in found]
    _bars(axes, scaled)
    axes.set_xlim(0, ROOM * max(max(start, start + length) for _, start, length in scaled))
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.set_yticks(range(len(found)), [name for name, _, _ in found], fontsize=TEXT)
    axes.xaxis.set_major_formatter(lambda value, _: plain(value))
    axes.set_xlabel(f"time of a run, {unit}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(_title(gap), loc="left", fontsize=TEXT + 1, color=ALARM if gap.bound_violated else INK)
    for row, ((name, start, length), (_, _, time)) in enumerate(zip(scaled, found, strict=True)):
        low, high = sorted((start, start + length))
        figures = f"{_told(time)}, {share(time, gap.measured_s)}"
        axes.annotate(figures, (high, row), (5, 0), textcoords="offset points", va="center", fontsize=SMALL)
        _explain(axes, row, _what(name, gap), (low, high))


def _bars(axes: Axes, found: Sequence[tuple[str, float, float]]) -> None:
    """The bars, and lines from the end of each to the next."""
    for row, (name, start, length) in enumerate(found):
        colour = {"floor": FLOOR, "measured": MEASURED}.get(name, ALARM if length < 0 else CAUSE)
        hatch = "//" if length < 0 else ""
        axes.barh(row, length, left=start, height=0.7, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.6)
        if name != "measured":
            axes.plot([start + length] * 2, [row, row + 1], color=FAINT, linewidth=0.8, zorder=0.5)


def _what(name: str, gap: Gap) -> str:
    return {"floor": f"limited by {gap.limited_by}", "measured": "the median run"}.get(name) or CAUSES.get(name, "")


def _explain(axes: Axes, row: int, text: str, bar: tuple[float, float]) -> None:
    """What a part is, right of its figures or left of its bar, where there is room."""
    frame = axes.get_window_extent()
    left, right = (float(axes.transData.transform((at, row))[0]) for at in bar)
    drawn = axes.text(0, row, text, fontsize=SMALL, color=FAINT, va="center")
    width = drawn.get_window_extent().width
    if right + FIGURES + width <= frame.x1:
        x = right + FIGURES
    elif left - width - BESIDE >= frame.x0:
        x = left - width - BESIDE
    else:
        drawn.remove()
        return
    drawn.set_x(axes.transData.inverted().transform((x, 0))[0])


def _seen(cause: Cause, gap: Gap) -> bool:
    """Whether it has a bar: a fault always has, however small."""
    return cause.seconds > LEAST * gap.measured_s or cause.seconds < -ROUNDING * gap.measured_s


def _told(length: float) -> str:
    return f"-{seconds(-length)}" if length < 0 else seconds(length)


def _title(gap: Gap) -> str:
    if gap.bound_violated:
        return "Bound violated: it ran faster than the floor, so the device's figures are too low"
    small = [cause.cause for cause in gap.causes if not _seen(cause, gap)]
    return "Where the time goes" + (f" (below {LEAST:.2%}: {', '.join(small)})" if small else "")

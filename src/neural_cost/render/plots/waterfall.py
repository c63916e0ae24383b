"""The gap as a waterfall: from the floor, cause by cause, to the measured time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from neural_cost.analyzer.tables.figures import TIMES, plain, seconds, share
from neural_cost.render.plots.style import ALARM, FAINT, INK, SMALL, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST, ROUNDING = 0.0005, 1e-9  # of the measured time: what is not shown, and what is no number but rounding
FLOOR, CAUSE, MEASURED = "#0072B2", "#E69F00", "#555555"


class CauseLike(Protocol):
    """A cause, and the seconds of a run that are laid to it."""

    @property
    def cause(self) -> str:
        """Its name."""

    @property
    def seconds(self) -> float:
        """Below 0 where it is a fault of the figures."""


class GapLike(Protocol):
    """A gap: the floor and the causes add up to what was measured."""

    @property
    def measured_s(self) -> float:
        """Seconds of the median run."""

    @property
    def floor_s(self) -> float:
        """Seconds that the device cannot beat."""

    @property
    def causes(self) -> Sequence[CauseLike]:
        """What the rest went to."""

    @property
    def bound_violated(self) -> bool:
        """Whether a run was faster than the floor."""


def rows(gap: GapLike) -> list[tuple[str, float, float]]:
    """Name, start and length of each bar in seconds, top down; causes of next to no time have none."""
    found = [("floor", 0.0, gap.floor_s)]
    reached = gap.floor_s
    for cause in gap.causes:
        if _seen(cause, gap):
            found.append((cause.cause, reached, cause.seconds))
        reached += cause.seconds
    return [*found, ("measured", 0.0, gap.measured_s)]


def draw_waterfall(axes: Axes, gap: GapLike) -> None:
    """A bar for each part, begun where the one before ends; time that is taken off stands in the alarm's colour."""
    found = rows(gap)
    unit, scale = next(((unit, scale) for unit, scale in TIMES if gap.measured_s >= scale), ("ns", 1e-9))
    colours = [FLOOR, *(ALARM if length < 0 else CAUSE for _, _, length in found[1:-1]), MEASURED]
    hatches = ["", *("//" if length < 0 else "" for _, _, length in found[1:-1]), ""]
    positions = range(len(found))
    lengths = [length / scale for _, _, length in found]
    starts = [start / scale for _, start, _ in found]
    axes.barh(positions, lengths, left=starts, color=colours, hatch=hatches, height=0.7, edgecolor=INK, linewidth=0.6)
    for row, (_, start, length) in enumerate(found[:-1]):
        axes.plot([(start + length) / scale] * 2, [row, row + 1], color=FAINT, linewidth=0.8, zorder=0.5)
    for row, (_, start, length) in enumerate(found):
        axes.annotate(
            f"{_told(length)}, {share(length, gap.measured_s)}",
            xy=(max(start, start + length) / scale, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )
    axes.set_yticks(positions, [name for name, _, _ in found], fontsize=TEXT)
    axes.set_xlim(0, 1.22 * max(max(start, start + length) for _, start, length in found) / scale)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(lambda value, _: plain(value))
    axes.set_xlabel(f"time of a run, {unit}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(_title(gap), loc="left", fontsize=TEXT + 1, color=ALARM if gap.bound_violated else INK)


def _seen(cause: CauseLike, gap: GapLike) -> bool:
    """Whether it has a bar: a fault always has, however small."""
    return cause.seconds > LEAST * gap.measured_s or cause.seconds < -ROUNDING * gap.measured_s


def _told(length: float) -> str:
    return f"-{seconds(-length)}" if length < 0 else seconds(length)


def _title(gap: GapLike) -> str:
    if gap.bound_violated:
        return "Bound violated: it ran faster than the floor, so the device's figures are too low"
    small = [cause.cause for cause in gap.causes if not _seen(cause, gap)]
    return "Where the time goes" + (f" (below {LEAST:.2%}: {', '.join(small)})" if small else "")

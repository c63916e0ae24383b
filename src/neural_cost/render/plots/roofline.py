"""The roofline: rate against intensity, both logarithmic, under the ceilings of a device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import atan2, cos, degrees, hypot, sin
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.tables.figures import plain
from neural_cost.render.plots.ceilings import Roof, Slope, rate
from neural_cost.render.plots.labels import Box, Spot, along, spread
from neural_cost.render.plots.style import ALARM, FAINT, INK, LOOKS, SMALL, halo

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from neural_cost.render.plots.points import Point

LARGEST, OF_A_SHARE, SMALLEST = 600.0, 3000.0, 14.0  # square points: of any marker, of one with all the time, of any
SHARES = (0.02, 0.04, 0.08, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # of a slope, where its label may begin
FEW_DECADES = 300.0  # high / low of an axis on which powers of ten alone would be too few
LIFT = 4.0  # pixels of a label above its slope
STEP, OF_A_LINE = 12.0, 8.0  # pixels between the spots of a line, and what each weighs under a label
LINES: tuple[Any, ...] = ("solid", (0, (6, 2)), (0, (3, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))


@dataclass(frozen=True, slots=True)
class Whole:
    """The model as one point: its FLOPs per compulsory byte, and FLOP/s over the time of a run or of its bound."""

    intensity: float
    flops_per_s: float
    label: str


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What is drawn of a device; both empty where nothing is known of it."""

    roofs: Sequence[Roof]
    slopes: Sequence[Slope]

    @property
    def used(self) -> list[Roof]:
        """The roofs of the types that the model computes in."""
        return [roof for roof in self.roofs if roof.used]

    @property
    def ridges(self) -> list[tuple[float, float]]:
        """Where each slope meets each roof that is used: intensity and FLOP/s."""
        return [(roof.flops_per_s / s.bytes_per_s, roof.flops_per_s) for s, roof in product(self.slopes, self.used)]

    @property
    def corners(self) -> list[float]:
        """The intensity at which each roof begins, under the fastest slope."""
        fastest = max((slope.bytes_per_s for slope in self.slopes), default=None)
        return [] if fastest is None else [roof.flops_per_s / fastest for roof in self.roofs]


def areas(points: Iterable[Point], whole_s: float) -> list[float]:
    """Areas of markers in square points: the share of all the time, and no less than what can be seen."""
    shares = [point.seconds / whole_s if whole_s else 0.0 for point in points]
    scale = min(OF_A_SHARE, LARGEST / max(shares, default=1.0)) if any(shares) else 0.0
    return [max(SMALLEST, scale * share) for share in shares]


def scatter(axes: Axes, points: Sequence[Point], places: Sequence[tuple[float, float]], sizes: Sequence[float]) -> None:
    """Draw the points, small ones over large ones; over them those that beat their bound, with an edge of alarm."""
    order = sorted(range(len(points)), key=lambda k: (points[k].violated, -sizes[k]))
    for group, look in LOOKS.items():
        mine = [k for k in order if points[k].group == group]
        if mine:
            axes.scatter(
                [places[k][0] for k in mine],
                [places[k][1] for k in mine],
                [sizes[k] for k in mine],
                c=look.colour,
                marker=look.marker,
                alpha=0.75,
                linewidths=[2.0 if points[k].violated else 0.6 for k in mine],
                edgecolors=[ALARM if points[k].violated else INK for k in mine],
                label=group,
                zorder=3,
            )


def set_limits(axes: Axes, points: Sequence[Point], ceilings: Ceilings, whole: Whole | None) -> None:
    """Logarithmic axes that hold every point, every roof and every ridge."""
    from matplotlib.ticker import LogLocator

    own = [(point.intensity, point.flops_per_s) for point in points]
    model = [] if whole is None else [(whole.intensity, whole.flops_per_s)]
    across = [x for x, _ in (*own, *model, *ceilings.ridges)] + ceilings.corners or [1.0]
    up = [y for _, y in (*own, *model)] + [roof.flops_per_s for roof in ceilings.roofs] or [1.0]
    axes.set(xscale="log", yscale="log")
    axes.set_xlim(min(across) / 3, max(across) * 4)
    axes.set_ylim(min(up) / 4, max(up) * 2)
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        if high / low < FEW_DECADES:
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(lambda value, _: plain(value))
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    axes.yaxis.set_minor_formatter(lambda value, _: "")
    axes.yaxis.set_major_formatter(lambda value, _: rate(value).replace(" ", "") if value >= 1 else plain(value))
    axes.grid(visible=True, which="major", color="#E4E4E4", linewidth=0.6)
    axes.set_axisbelow(True)


def draw_ceilings(axes: Axes, ceilings: Ceilings, spare: Sequence[Spot]) -> list[Box]:
    """Draw roofs, slopes and ridges with their labels; the room that labels take."""
    (low, high), top = axes.get_xlim(), max((roof.flops_per_s for roof in ceilings.roofs), default=axes.get_ylim()[1])
    held = max((roof.flops_per_s for roof in ceilings.used), default=top)
    fastest = max((slope.bytes_per_s for slope in ceilings.slopes), default=None)
    for roof in ceilings.roofs:
        start = low if fastest is None else max(low, roof.flops_per_s / fastest)
        style, width, colour = ("solid", 1.6, INK) if roof.used else ("dotted", 1.0, FAINT)
        axes.plot([start, high], [roof.flops_per_s] * 2, linestyle=style, linewidth=width, color=colour, zorder=1.5)
    for slope, line in zip(ceilings.slopes, LINES * len(ceilings.slopes), strict=False):
        end, further = held / slope.bytes_per_s, top / slope.bytes_per_s
        axes.plot([low, end], [slope.bytes_per_s * low, held], linestyle=line, linewidth=1.4, color=INK, zorder=1.5)
        axes.plot([end, further], [held, top], linestyle="dotted", linewidth=1.0, color=FAINT, zorder=1.4)
    _roof_labels(axes, ceilings.roofs)
    taken = _ridges(axes, ceilings)
    for slope in ceilings.slopes:
        taken += _slope_label(axes, slope, held, taken, spare)
    return taken


def _roof_labels(axes: Axes, found: Sequence[Roof]) -> None:
    """At the right of the axes, apart from each other."""
    per_point = axes.figure.dpi / 72
    frame = axes.get_window_extent()
    heights = [float(axes.transData.transform((1, roof.flops_per_s))[1]) for roof in found]
    apart = 2.5 * SMALL * per_point
    for roof, own, at in zip(found, heights, spread(heights, apart, frame.y0, frame.y1), strict=True):
        axes.annotate(
            roof.label,
            xy=(1.0, roof.flops_per_s),
            xycoords=("axes fraction", "data"),
            xytext=(14, (at - own) / per_point),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            color=INK if roof.used else FAINT,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 0},
        )


def _ridges(axes: Axes, ceilings: Ceilings) -> list[Box]:
    """A ring at each ridge; that of the slowest memory and the type with most FLOPs has its intensity at the axis."""
    if not ceilings.ridges:
        return []
    across, up = zip(*ceilings.ridges, strict=True)
    axes.plot(across, up, "o", markersize=4.5, markerfacecolor="white", markeredgecolor=INK, zorder=2.5)
    peak = max(ceilings.used, key=lambda roof: roof.flops).flops_per_s
    slowest = peak / min(slope.bytes_per_s for slope in ceilings.slopes)
    axes.plot([slowest] * 2, [axes.get_ylim()[0], peak], linestyle=(0, (1, 3)), linewidth=1.0, color=FAINT, zorder=1)
    text = axes.annotate(
        f"ridge {plain(slowest)} FLOP/B",
        xy=(slowest, 0),
        xycoords=("data", "axes fraction"),
        xytext=(3, 3),
        textcoords="offset points",
        fontsize=SMALL,
        color=FAINT,
    )
    return [box_of(text)]


def _slope_label(axes: Axes, slope: Slope, held: float, taken: Sequence[Box], spare: Sequence[Spot]) -> tuple[Box, ...]:
    """Along the slope, where the fewest points are and no other label; none where it is too short for one."""
    low, bottom = axes.get_xlim()[0], axes.get_ylim()[0]
    begin = max(low, bottom / slope.bytes_per_s)
    ends = axes.transData.transform([(begin, slope.bytes_per_s * begin), (held / slope.bytes_per_s, held)])
    (x, y), (right, up) = ends
    angle, length = atan2(up - y, right - x), hypot(right - x, up - y)
    text = axes.text(
        0, 0, slope.label, fontsize=SMALL, color=INK, rotation_mode="anchor", transform=None, zorder=2.2,
        path_effects=halo(),
    )  # fmt: skip
    flat = box_of(text)
    size = (flat.right - flat.left, flat.top - flat.bottom)
    starts = [(x + s * (right - x), y + s * (up - y)) for s in SHARES if s * length + size[0] < length]
    rooms = [(start, along(start, angle, size, LIFT)) for start in starts]
    frame = Box(*axes.get_window_extent().extents)
    held_in = [(start, room) for start, room in rooms if all(frame.holds(box) for box in room)]
    free = [(start, room) for start, room in held_in if not any(a.overlaps(b) for a in room for b in taken)]
    if not free or right <= x:
        text.remove()
        return ()
    start, room = min(free, key=lambda each: sum(box.covers(spot) for box in each[1] for spot in spare))
    _put_along(axes, text, start, angle)
    return room


def _put_along(axes: Axes, text: Any, start: tuple[float, float], angle: float) -> None:
    """In data, so that another size of pixel leaves it where it is."""
    lift = LIFT
    at = (start[0] - lift * sin(angle), start[1] + lift * cos(angle))
    text.set_transform(axes.transData)
    text.set_position(axes.transData.inverted().transform(at))
    text.set_rotation(degrees(angle))


def on_lines(axes: Axes) -> list[Spot]:
    """Spots along every line that is drawn."""
    found: list[Spot] = []
    for line in axes.get_lines():
        ends = axes.transData.transform(line.get_xydata())
        for (x, y), (right, up) in pairwise(ends):
            steps = max(1, round(hypot(right - x, up - y) / STEP))
            found += [Spot(x + (right - x) * k / steps, y + (up - y) * k / steps, OF_A_LINE) for k in range(steps)]
    return found


def box_of(text: Any) -> Box:
    """The room of a text, in pixels."""
    found = text.get_window_extent()
    return Box(found.x0, found.y0, found.x1, found.y1)

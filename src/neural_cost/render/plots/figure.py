"""A picture, put together and written: `neural_cost.plot(report, "roofline.svg")`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.errors import BackendError, DeviceError, OptionError
from neural_cost.render.plots.ceilings import roofs, slopes
from neural_cost.render.plots.labels import Box, Spot
from neural_cost.render.plots.notes import notes, subtitle, title
from neural_cost.render.plots.points import Points, kernel_points, node_points
from neural_cost.render.plots.roofline import Ceilings, Whole, areas, draw_ceilings, on_lines, scatter, set_limits
from neural_cost.render.plots.strip import draw_strip
from neural_cost.render.plots.style import DPI, FAINT, INK, LOOKS, SMALL, TEXT, TITLE, plain_style
from neural_cost.render.plots.waterfall import draw_waterfall, rows
from neural_cost.render.plots.worst import Placed, label_worst, placed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from neural_cost.analyzer.device import Device
    from neural_cost.analyzer.gap.record import Gap
    from neural_cost.analyzer.measurement import Measurement
    from neural_cost.analyzer.report import Report
    from neural_cost.runtime.profile import Profile

SUFFIXES = (".png", ".svg", ".pdf")
WIDTH, HEIGHT = 12.0, 8.0  # inches, of the roofline with its strip and notes
LEFT, RIGHT, TOP = 0.85, 1.45, 0.95  # inches around the axes; roofs have their labels at the right
LINE, AXIS = 0.155, 0.55  # of a line of notes, of an axis with its name
STRIP, ROW = 0.42, 0.27
OF_A_POINT = 30.0  # what a point under a label weighs, as pixels of distance


@dataclass(frozen=True, slots=True)
class Subject:
    """What a picture is of."""

    report: Report
    points: Points
    measurement: Measurement | None
    gap: Gap | None

    @property
    def device(self) -> Device | None:
        """Whose ceilings are drawn."""
        return self.report.opened.device


def plot(found: Report | Profile, file: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the roofline of a report or a profile, and of a profile also where its time goes.

    Args:
        found: a report that has a device, or a profile.
        file: where to write it; .png, .svg or .pdf.

    Returns:
        matplotlib's figure.

    Raises:
        BackendError: matplotlib is not installed.
        DeviceError: the report has no device: there is no time without one.
        OptionError: the file ends in something else.
    """
    if file is not None:
        check_suffix(Path(file))
    check_installed()
    subject = _subject(found)
    with plain_style():
        figure = _drawn(subject)
    if file is not None:
        from neural_cost.render.output import replace

        replace(encoded(figure, Path(file)), Path(file).resolve())
    return figure


def check_suffix(file: Path) -> None:
    """Refuse what is no picture's name. Raises OptionError."""
    if file.suffix.lower() not in SUFFIXES:
        raise OptionError(f"a picture ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}: {file} does not.")


def check_installed() -> None:
    """Say what to install. Raises BackendError."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise BackendError("a picture needs matplotlib: pip install 'neural-cost[plot]'.") from error


def encoded(figure: Figure, file: Path) -> bytes:
    """The figure in the format that the file's name asks for, without a date: one picture is the same bytes."""
    kind = file.suffix.lower()[1:]
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    held = BytesIO()
    with plain_style():
        figure.savefig(held, format=kind, metadata=dates.get(kind))
    return held.getvalue()


def _subject(found: Report | Profile) -> Subject:
    from neural_cost.analyzer.report import Report

    if not isinstance(found, Report):
        return Subject(found.report, kernel_points(found.report, found.kernels), found.measurement, found.gap)
    if found.opened.device is None:
        raise DeviceError("a roofline is of a device, and none is given or known: name one with device (--device).")
    return Subject(found, node_points(found), None, None)


def _drawn(subject: Subject) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    below = notes(subject.report, subject.points, subject.device)
    more = 0.0 if subject.gap is None else ROW * len(rows(subject.gap)) + AXIS + 0.5
    figure = Figure(figsize=(WIDTH, HEIGHT + more), dpi=DPI)
    FigureCanvasAgg(figure)
    floor = more + 0.12 + LINE * len(below)
    _headed(figure, subject)
    for k, line in enumerate(reversed(below)):
        figure.text(0.2 / WIDTH, (more + 0.08 + LINE * k) / (HEIGHT + more), line, fontsize=SMALL, color=INK)
    _roofline(figure, subject, floor)
    if subject.gap is not None:
        draw_waterfall(_axes(figure, AXIS, ROW * len(rows(subject.gap)), left=1.3), subject.gap)
    return figure


def _axes(figure: Figure, bottom: float, height: float, left: float = LEFT) -> Any:
    """Axes so many inches from the bottom and so high."""
    width, whole = figure.get_size_inches()
    return figure.add_axes((left / width, bottom / whole, (width - left - RIGHT) / width, height / whole))


def _headed(figure: Figure, subject: Subject) -> None:
    width, height = figure.get_size_inches()
    figure.text(
        LEFT / width, 1 - 0.3 / height, title(subject.report, subject.device), fontsize=TITLE, color=INK, weight="bold"
    )
    under = subtitle(subject.report, subject.measurement)
    figure.text(LEFT / width, 1 - 0.52 / height, under, fontsize=TEXT, color=INK)


def _roofline(figure: Figure, subject: Subject, floor: float) -> None:
    """The roofline over its strip, and over both the labels of the worst."""
    found, ceilings = subject.points, _ceilings(subject)
    strip = STRIP + AXIS if found.movers else 0.0
    bottom = floor + strip + AXIS
    axes = _axes(figure, bottom, figure.get_size_inches()[1] - bottom - TOP)
    whole = _whole(subject)
    set_limits(axes, found.points, ceilings, whole)
    axes.set_xlabel("intensity, FLOPs per byte that must be moved")
    axes.set_ylabel("FLOP/s reached" if found.measured else "FLOP/s at best")
    drawn = _scattered(axes, found)
    taken: list[Box] = []
    if whole is not None:
        axes.plot(
            [whole.intensity], [whole.flops_per_s], "*", color="#F0E442", markersize=15, markeredgecolor=INK,
            label=whole.label, zorder=3.5,
        )  # fmt: skip
        taken.append(Box(*axes.transData.transform([(whole.intensity, whole.flops_per_s)] * 2).flat).grown(12))
    taken += draw_ceilings(axes, ceilings, _spots(drawn))
    if found.movers:
        below = _axes(figure, floor + AXIS, STRIP)
        drawn += draw_strip(below, found, ceilings)
    _legend(figure, [axes, *([below] if found.movers else [])])
    spots = [spot for each in figure.axes for spot in on_lines(each)]
    label_worst(drawn, found.seconds, taken, [*spots, *_spots(drawn)])


def _spots(drawn: list[Placed]) -> list[Spot]:
    return [Spot(*each.pixels, OF_A_POINT, each.radius) for each in drawn]


def _scattered(axes: Any, found: Points) -> list[Placed]:
    points = found.points
    places = [(point.intensity, point.flops_per_s) for point in points]
    sizes = areas((*points, *found.movers), found.seconds)[: len(points)]
    scatter(axes, points, places, sizes)
    return placed(axes, points, places, sizes)


def _ceilings(subject: Subject) -> Ceilings:
    device = subject.device
    if device is None:
        return Ceilings([], [])
    return Ceilings(roofs(device, subject.report.totals.flops_by_type), slopes(device))


def _whole(subject: Subject) -> Whole | None:
    """The model as one point; None where its figures leave something out."""
    totals, measured = subject.report.totals, subject.measurement
    bound = next(iter(subject.report.bounds), None)
    if not totals.complete or not totals.flops or not totals.compulsory_bytes:
        return None
    intensity = totals.flops / totals.compulsory_bytes
    if measured is not None:
        return Whole(intensity, totals.flops / measured.median_s, "the whole run, by its compulsory bytes")
    if bound is None or not bound.floor_s or bound.missing:
        return None
    return Whole(intensity, totals.flops / bound.floor_s, "the whole model, perfectly fused")


def _legend(figure: Figure, axes: list[Any]) -> None:
    """Groups in their fixed order, in one row above the axes; all markers of one size."""
    from matplotlib.lines import Line2D

    there = {name: handle for each in axes for handle, name in zip(*each.get_legend_handles_labels(), strict=True)}
    handles: list[Any] = [
        Line2D([], [], linestyle="", marker=look.marker, color=look.colour, markeredgecolor=INK, markersize=7,
               markeredgewidth=0.6, label=name)
        for name, look in LOOKS.items() if name in there
    ]  # fmt: skip
    handles += [handle for name, handle in there.items() if name not in LOOKS]
    if not handles:
        return
    width, height = figure.get_size_inches()
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(LEFT / width, 1 - 0.66 / height), ncols=len(handles),
        frameon=False, fontsize=TEXT, borderaxespad=0, borderpad=0, handletextpad=0.3, columnspacing=1.4,
        labelcolor=INK, edgecolor=FAINT,
    )  # fmt: skip

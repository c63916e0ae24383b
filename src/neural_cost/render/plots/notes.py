"""What stands above and below a picture: what it is of, and what it does not show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from neural_cost.analyzer.tables.figures import clean, seconds, share

if TYPE_CHECKING:
    from neural_cost.analyzer.device import Device
    from neural_cost.analyzer.measurement import Measurement
    from neural_cost.analyzer.report import Report
    from neural_cost.render.plots.points import LeftOut, Points

LINE = 190  # characters of a note's line
TITLE_CELLS = 100


def title(report: Report, device: Device | None) -> str:
    """The model and the device."""
    on = "" if device is None else f" on {device.name} ({device.kind})"
    text = clean(f"{Path(report.model.path).name}{on}")
    return text if len(text) <= TITLE_CELLS else text[: TITLE_CELLS - 1] + "\N{HORIZONTAL ELLIPSIS}"


def subtitle(report: Report, measurement: Measurement | None) -> str:
    """What was run, or that nothing was; and the sizes."""
    if measurement is None:
        floor = next((bound.floor_s for bound in report.bounds), None)
        ran = f"not run: rates at best; no faster than {seconds(floor)}"
    else:
        threads = "its own threads" if measurement.threads is None else f"threads: {measurement.threads}"
        where = f"{measurement.backend} {measurement.version}, {measurement.provider}, {threads}"
        ran = f"{where}: {seconds(measurement.median_s)} a run"
    assumed = set(report.model.assumed_dims)
    sizes = [f"{name} = {size}{' (assumed)' * (name in assumed)}" for name, size in report.model.dims.items()]
    return clean("; ".join([ran, *sizes]))[:LINE]


def notes(report: Report, found: Points, device: Device | None) -> list[str]:
    """Lines that say what a point is, and what is left out."""
    return [line for note in _notes(report, found, device) for line in wrap(clean(note), LINE)]


def _notes(report: Report, found: Points, device: Device | None) -> Iterator[str]:
    what = "kernel" if found.measured else "node"
    time = "its part of kernel time" if found.measured else "its part of the time at best"
    yield f"A point is a {what} with all its executions; its area is {time}, or the least that can be seen."
    if found.left_out:
        yield f"Not drawn: {'; '.join(_left_out(each, what, found.seconds) for each in found.left_out)}."
    violated = sum(point.violated for point in (*found.points, *found.movers))
    if violated:
        yield f"Red edges: faster than their bound ({violated}), so a figure of the device is too low for them."
    if device is None:
        yield "No figures of the device are known: no ceilings."
    for bound in report.bounds:
        if bound.missing:
            yield f"Not known, and so in no ceiling: {', '.join(bound.missing)}."
        if bound.substituted:
            yield f"{'; '.join(bound.substituted)}."
        if bound.caveat:
            yield f"Peaks: {bound.caveat}."


def _left_out(part: LeftOut, what: str, whole_s: float) -> str:
    time = "" if part.seconds is None else f" ({share(part.seconds, whole_s)} of kernel time)"
    return f"{part.number:,} {what}{'' if part.number == 1 else 's'} {part.why}{time}"

"""A calibration as blocks: peaks by type and threads, and the curves as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neural_cost.analyzer.calibration import COPIES, Calibration, Rate
from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import seconds, thread_count

COLUMNS = ("device", "what", "threads", "size", "per_s", "spread")
UNITS = {"bandwidth": "GB/s by working set", **dict.fromkeys(COPIES, "GB/s by size of the copy")}
BAR = 30  # characters of the longest bar
FULL = "\N{FULL BLOCK}"


def calibration_page(found: Calibration | None, *, quiet: bool = False) -> list[Block]:
    """All that a table shows of a calibration; `quiet` leaves the curves out."""
    if found is None:
        return [Paragraph(""), Paragraph("Not measured yet: --calibrate does it, in under 30 s", "quiet")]
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    lines = [Paragraph(f"measured {found.date}; {versions}", "quiet")]
    lines += [Paragraph(f"no figure for {kind}: {why}", "quiet") for kind, why in found.left_out.items()]
    lines += [Paragraph(note, "warning") for note in (*found.doubts, *found.notes)]
    curves = [] if quiet else [_curve(found, what) for what in (*found.types, "bandwidth", *found.copies)]
    return [_peaks(found), *lines, *curves]


def rate_rows(found: Calibration) -> list[dict[str, Any]]:
    """A row for each point."""
    name = str(found.machine["name"])
    return [{"device": name} | {field: getattr(rate, field) for field in COLUMNS[1:]} for rate in found.rates]


def _peaks(found: Calibration) -> Grid:
    counts = sorted({rate.threads for rate in found.rates})
    headings = [Heading("measured", "name"), *(Heading(_worker(found, count)) for count in counts)]
    devices = [found.device(count) for count in counts]
    lines = [[f"{kind}, GFLOP/s", *(_giga(device.peaks.get(kind)) for device in devices)] for kind in found.types]
    lines.append(["DRAM, GB/s", *(_giga(device.memory_bandwidth) for device in devices)])
    best = [(what, max(rate.per_s for rate in found.curve(what, 1))) for what in found.copies]
    lines += [[f"{what}, GB/s", _giga(rate)] for what, rate in best]
    lines.append(["an empty kernel", seconds(found.dispatch_s), *[""] * (len(counts) - 1)])
    return Grid("Measured" if found.provider == "cpu" else f"Measured by {found.provider}", headings, lines)


def _curve(found: Calibration, what: str) -> Grid:
    counts = sorted({rate.threads for rate in found.rates})
    points = {count: found.curve(what, count) for count in counts}
    most = max(rate.per_s for curve in points.values() for rate in curve)
    headings = [Heading("", "name"), *(part for count in counts for part in _headings(_worker(found, count)))]
    rows = zip(*points.values(), strict=True)
    unit = UNITS.get(what, "GFLOP/s by n of a product of n x n matrices")
    return Grid(f"{what}, {unit}", headings, [_line(what, rates, most / BAR * len(counts)) for rates in rows])


def _headings(worker: str) -> tuple[Heading, Heading]:
    return Heading(worker), Heading("", "remark")


def _line(what: str, rates: Sequence[Rate], per_character: float) -> list[str]:
    name = _size(rates[0].size) if what in UNITS else str(rates[0].size)
    return [name, *(part for rate in rates for part in (_giga(rate.per_s), FULL * round(rate.per_s / per_character)))]


def _worker(found: Calibration, threads: int) -> str:
    """What a column is of: so many threads, or a GPU."""
    if found.provider != "cpu":
        return str(found.machine["name"])
    return thread_count(threads)


def _size(held: int) -> str:
    return f"{held >> 20} MiB" if held >= 1 << 20 else f"{held >> 10} KiB"


def _giga(value: float | None) -> str:
    return "-" if value is None else f"{value / 1e9:.4g}"

"""How near each backend of a family comes to what a device could do at best: rows, and a table for each family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import count, plain, seconds, size

if TYPE_CHECKING:
    from neural_cost.analyzer.comparison import BackendResult, Comparison
    from neural_cost.analyzer.device import Device
    from neural_cost.analyzer.report import Report

NAMES: Mapping[str, str] = {
    "dnn": "FF DNN (784-128-128-10, LayerNorm)",
    "cnn": "CNN (3x32x32, two convolutions of 64 and 128, pooling, 10 classes)",
    "rnn": "RNN (2 layers, tanh, hidden 128, 32 steps)",
    "lstm": "LSTM (2 layers, hidden 128, 32 steps)",
    "transformer": "Transformer (2 encoder layers, width 128, 4 heads, FFN 512, 32 tokens)",
}
COLUMNS = (
    "family", "framework", "backend", "flops", "parameters", "io_bytes", "intensity", "median_s", "plus_minus_s",
    "floor_s", "efficiency", "flops_per_s", "bytes_per_s", "limited_by",
)  # fmt: skip
BAR = 10  # characters
FULL, EMPTY = "█", "░"


def roofline_rows(
    family: str, framework: str, found: Comparison, report: Report | None, shown: Sequence[str]
) -> list[dict[str, Any]]:
    """A row for each backend that is shown and has a time.

    `report` is that of the family's export, bounded on the device; None where it could not be exported. The floor is
    the time below which the device cannot do the whole model, and efficiency is floor / median: above 1 a figure of the
    device is too low.
    """
    results = [each for name in shown for each in found.backends if each.name == name and each.median_s]
    return [{"family": family, "framework": framework, **_row(each, report)} for each in results]


def _row(result: BackendResult, report: Report | None) -> dict[str, Any]:
    totals = None if report is None or not report.totals.complete else report.totals
    bound = report.bounds[0] if report is not None and totals is not None and report.bounds else None
    moved = None if totals is None else totals.compulsory_bytes
    median, interval = result.median_s, result.ci_s
    return {
        "backend": result.name,
        "flops": None if totals is None else totals.flops,
        "parameters": None if totals is None else totals.parameters,
        "io_bytes": moved,
        "intensity": None if totals is None or not moved else totals.flops / moved,
        "median_s": median,
        "plus_minus_s": None if interval is None else (interval[1] - interval[0]) / 2,
        "floor_s": None if bound is None else bound.floor_s,
        "efficiency": None if bound is None else _rate(bound.floor_s, median),
        "flops_per_s": None if totals is None else _rate(totals.flops, median),
        "bytes_per_s": _rate(moved, median),
        "limited_by": None if bound is None else bound.limited_by,
    }


def _rate(part: float | None, of: float | None) -> float | None:
    return None if part is None or not of else part / of


def hardware_page(device: Device) -> list[Block]:
    """What the device can do at best, and where that is known from."""
    peak, rate = device.peak_flops, device.memory_bandwidth
    ridge = None if peak is None or rate is None else peak / rate
    lines = [
        ("Device", device.name, device.kind),
        ("Peak, float32", "unknown" if peak is None else f"{plain(peak / 1e12)} TFLOP/s", ""),
        (
            "Bandwidth",
            "unknown" if rate is None else f"{plain(rate / 1e9)} GB/s",
            "of memory; caches are faster",
        ),
        ("Ridge point", "unknown" if ridge is None else f"{plain(ridge)} FLOP/byte", "below it memory is the limit"),
        ("Source", "", device.source),
    ]
    headings = [Heading("", "name"), Heading("", "name"), Heading("", "remark")]
    return [Grid("Hardware", headings, lines, headed=False), *(Paragraph(note, "quiet") for note in device.notes)]


def rooflines_page(rows: Sequence[Mapping[str, Any]]) -> list[Block]:
    """A table for each family."""
    families = dict.fromkeys(row["family"] for row in rows)
    tables = [_table(family, [row for row in rows if row["family"] == family]) for family in families]
    return [*tables, *(Paragraph(text, "quiet") for text in _legend(rows))] if tables else []


def _table(family: str, rows: Sequence[Mapping[str, Any]]) -> Grid:
    headings = [
        Heading("framework", "name"),
        Heading("backend", "name"),
        Heading("FLOPs"),
        Heading("params", drop=5),
        Heading("I/O"),
        Heading("AI", drop=2),
        Heading("median"),
        Heading("+-", drop=6),
        Heading("effic."),
        Heading("floor / median", "name", drop=1),
        Heading("GFLOP/s", drop=3),
        Heading("GB/s", drop=4),
        Heading("bound", "name", drop=1),
    ]
    beaten = [place for place, row in enumerate(rows) if (row["efficiency"] or 0) > 1]
    return Grid(NAMES.get(family, family), headings, [_line(row) for row in rows], alarms=beaten)


def _line(row: Mapping[str, Any]) -> list[str]:
    efficiency = row["efficiency"]
    return [
        row["framework"],
        row["backend"],
        count(row["flops"]),
        count(row["parameters"]),
        size(row["io_bytes"]),
        _figure(row["intensity"]),
        seconds(row["median_s"]),
        "-" if row["plus_minus_s"] is None else seconds(row["plus_minus_s"]),
        "unknown" if efficiency is None else f"{efficiency:.1%}",
        bar(efficiency),
        _figure(row["flops_per_s"], 1e9),
        _figure(row["bytes_per_s"], 1e9),
        row["limited_by"] or "unknown",
    ]


def bar(efficiency: float | None) -> str:
    """Efficiency as a bar; what is above 1 is said, as no bar can show it."""
    if efficiency is None:
        return "unknown"
    if efficiency > 1:
        return "bound violated"
    full = round(BAR * efficiency)
    return f"[{FULL * full}{EMPTY * (BAR - full)}]"


def _figure(value: float | None, unit: float = 1.0) -> str:
    return "unknown" if value is None else plain(value / unit)


def _legend(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield (
        "I/O: weights, inputs and outputs once; AI: FLOPs for each byte of it; +-: half the 95 % interval of the "
        "median; effic.: the time that the device needs at best, over the median"
    )
    if any((row["efficiency"] or 0) > 1 for row in rows):
        yield "bound violated: a run was faster than the device's figures allow, so one of them is too low"

"""Devices as rows and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import plain
from neural_cost.analyzer.tables.text import to_text

if TYPE_CHECKING:
    from neural_cost.analyzer.device import Device

TYPES = ("float64", "float32", "tf32", "float16", "bfloat16", "float8", "int8", "float4")
COLUMNS = (
    "name", "kind", "vendor", "type", *(f"{kind}_flops" for kind in TYPES), "memory_bandwidth", "memory_bytes",
    "confidence", "caveat", "source",
)  # fmt: skip


def device_rows(devices: Sequence[Device]) -> list[dict[str, Any]]:
    """A row for each device: stated peaks in FLOP/s, bandwidth in bytes/s; None where there is no figure."""
    return [
        {name: getattr(device, name, None) for name in COLUMNS}
        | {f"{kind}_flops": device.peaks.get(kind) for kind in TYPES}
        for device in devices
    ]


def device_table(devices: Sequence[Device], *, notes: bool, colour: bool) -> str:
    """The blocks as text."""
    return to_text(device_blocks(devices, notes=notes), colour=colour)


def device_blocks(devices: Sequence[Device], *, notes: bool) -> list[Block]:
    """The devices in TFLOP/s and GB/s; a dash where there is no figure. `notes` adds sources and what to know."""
    used = [kind for kind in TYPES if any(kind in device.peaks for device in devices)]
    lines = [
        [
            device.name,
            *(_scaled(device.peaks.get(kind), 1e12) for kind in used),
            _scaled(device.memory_bandwidth, 1e9),
            _scaled(device.memory_bytes, 2**30),
        ]
        for device in devices
    ]
    rare_first = [Heading(kind, drop=TYPES.index(kind)) for kind in used]
    headings = [Heading("device", "name"), *rare_first, Heading("GB/s"), Heading("GiB", drop=1)]
    grid = Grid("Peak TFLOP/s by type, datasheet", headings, lines)
    return [grid, *(remark for device in devices if notes for remark in _remarks(device))]


def _remarks(device: Device) -> list[Paragraph]:
    return [
        Paragraph(f"{device.name}", "title"),
        Paragraph(f"  source: {device.source}"),
        Paragraph(f"  confidence: {device.confidence}"),
        *(Paragraph(f"  {note}", "quiet") for note in device.notes),
    ]


def _scaled(value: float | None, unit: float) -> str:
    return "-" if value is None else plain(value / unit)

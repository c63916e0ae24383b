"""The clock that a CPU cannot exceed: what the machine tells, or the highest of any chip of its kind.

A peak at a lower clock is no peak: a core that turbos would beat a bound made of it. A virtual machine tells the
nominal clock alone, or none; `data/cpu_clocks.csv` then has the highest of any chip of that vendor, family and model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from neural_cost.analyzer.cpu_info import CoreGroup, CpuInfo
from neural_cost.analyzer.device_table import Row, read_table


@dataclass(frozen=True, slots=True)
class Clock:
    """Cycles/s of a core, and why they are taken.

    Attributes:
        hertz: cycles/s.
        origin: "told" is the highest that the machine knows of, "table" the highest of any such chip, "reported" a
            current or nominal one, which a turbo can beat.
        note: what a reader must know; empty where the machine tells.
    """

    hertz: float
    origin: Literal["told", "table", "reported"]
    note: str = ""


def clock_of(info: CpuInfo, group: CoreGroup) -> Clock | None:
    """The highest clock that is known of a group of cores; None where the machine tells none at all."""
    if group.clock is None:
        return None
    if group.max_mhz is not None:
        return Clock(group.clock, "told")
    row = next(_rows(info, group), None)
    reported = f"the machine does not tell its highest clock, and reports {group.clock / 1e6:.0f} MHz"
    if row is None:
        return Clock(group.clock, "reported", f"{reported}: peaks are at that clock, and a turbo can exceed it")
    highest = max(float(row["max_ghz"]) * 1e9, group.clock)
    doubt = ", a figure that no source is cited for" if row["confidence"] == "low" else ""
    taken = f"{highest / 1e6:.0f} MHz is taken, the highest of any chip of its kind ({row['highest']}{doubt})"
    return Clock(highest, "table", f"{reported}: {taken}")


def _rows(info: CpuInfo, group: CoreGroup) -> Iterator[Row]:
    """Rows of the table for this chip, those of a name or a role first."""
    for row in _table():
        named = not row["name_match"] or re.search(row["name_match"], info.name)
        if named and row["role"] in ("", group.role) and _is_family(row, info) and in_ranges(info.model, row["models"]):
            yield row


def _is_family(row: Row, info: CpuInfo) -> bool:
    """Whether a row is about this vendor and family of x86."""
    return row["vendor"] == info.vendor and int(row["family"], 16) == info.family


def in_ranges(model: int | None, ranges: str) -> bool:
    """Whether "0f 16 20-2f", in hexadecimal, holds a model."""
    spans = (part.partition("-") for part in ranges.split())
    return model is not None and any(int(first, 16) <= model <= int(last or first, 16) for first, _, last in spans)


@cache
def _table() -> tuple[Row, ...]:
    return tuple(read_table("cpu_clocks.csv"))

"""Trace: what a framework tells of a run of its own: its events, and its allocator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from neural_cost.analyzer.record import Record
from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Record):
    """All calls of one operator of a framework.

    Attributes:
        name: as the framework calls it.
        calls: in all the runs that were traced.
        cpu_s: seconds of the CPU in them, without those of operators that they call.
        device_s: seconds of the accelerator, likewise; 0 without one.
    """

    name: str
    calls: int
    cpu_s: float
    device_s: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Record):
    """What a framework tells of a run.

    Attributes:
        framework: whose run it was.
        runs: how many were traced.
        events: sums by operator, the one that took longest first; empty where the framework is not asked for them.
        allocator: bytes and counts that the accelerator's allocator tells, by its own names; None without one.
        notes: what is not there, and why.
    """

    framework: str
    runs: int
    events: tuple[Event, ...]
    allocator: Mapping[str, int] | None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "framework": self.framework,
            "runs": self.runs,
            "events": [event.to_dict() for event in self.events],
            "allocator": None if self.allocator is None else dict(self.allocator),
            "notes": list(self.notes),
        }

    def page(self) -> list[Block]:
        """A line for each event, and the allocator's figures."""
        headings = [Heading("event", "name"), Heading("calls"), Heading("CPU"), Heading("device", drop=1)]
        lines = [[each.name, f"{each.calls:,}", seconds(each.cpu_s), seconds(each.device_s)] for each in self.events]
        told = ", ".join(f"{name} {value:,}" for name, value in (self.allocator or {}).items())
        return [
            Paragraph(f"{self.framework}, {self.runs} run{'' if self.runs == 1 else 's'}", "title"),
            *([Grid("Own time of each operator, all runs", headings, lines)] if lines else []),
            Paragraph(f"Allocator: {told}" if told else "No allocator of an accelerator"),
            *(Paragraph(note, "quiet") for note in self.notes),
        ]

    def __str__(self) -> str:
        """The table."""
        from neural_cost.analyzer.tables.text import to_text

        return to_text(self.page())

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        from neural_cost.analyzer.tables.html import to_html

        return to_html(self.page())


def check_runs(runs: int) -> None:
    """Refuse what is no number of runs.

    Raises:
        OptionError: there is none.
    """
    from neural_cost.analyzer.errors import OptionError

    if runs < 1:
        raise OptionError(f"runs cannot be {runs}: at least one is traced.")

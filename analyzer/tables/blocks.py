"""What a page is made of, before it is text or HTML: paragraphs, and grids of figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Style: TypeAlias = Literal["plain", "title", "warning", "alarm", "quiet"]
Sort: TypeAlias = Literal["name", "figure", "remark"]  # shortened in the middle; never cut; wrapped


@dataclass(frozen=True, slots=True)
class Heading:
    """A column: what it is called, what stands in it, and when it goes where there is no room: the highest first."""

    text: str
    sort: Sort = "figure"
    drop: int = 0


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line, or as many as it takes."""

    text: str
    style: Style = "plain"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; without headings it is a list of figures with names and remarks."""

    title: str
    headings: Sequence[Heading]
    lines: Sequence[Sequence[str]]
    headed: bool = True
    alarms: Sequence[int] = field(default=())  # lines that must not be overlooked


Block: TypeAlias = Paragraph | Grid

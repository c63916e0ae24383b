"""Blocks as lines of text that fit a terminal: figures stay whole, names are shortened in the middle."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from unicodedata import combining, east_asian_width

from neural_cost.analyzer.tables.blocks import Block, Grid, Paragraph, Style
from neural_cost.analyzer.tables.figures import clean

WIDTH_WITHOUT_TERMINAL = 120
NARROWEST = 40
GAP = 2
ROOM_FOR_NAMES = 24  # a name is worth more than a column that can go
LEAST_OF_A_NAME = 6
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
STYLES: dict[Style, str] = {"title": "1", "warning": "33", "alarm": "1;31", "quiet": "2"}


def terminal_width() -> int:
    """Columns of the terminal, or what COLUMNS says."""
    return max(NARROWEST, shutil.get_terminal_size((WIDTH_WITHOUT_TERMINAL, 24)).columns)


def to_text(blocks: Iterable[Block], *, width: int | None = None, colour: bool = False) -> str:
    """Lay blocks out, by default for this terminal. One blank line parts them, however many they ask for."""
    room = width or terminal_width()
    lines: list[tuple[str, Style]] = []
    for block in blocks:
        lines += _paragraph(block, room) if isinstance(block, Paragraph) else _grid(block, room)
    bare = [(line.rstrip(), style) for line, style in lines]
    kept = [each for each, before in zip(bare, [("", ""), *bare], strict=False) if each[0] or before[0]]
    return "\n".join(_styled(line, style) if colour else line for line, style in kept)


def shorten(text: str, width: int) -> str:
    """Cut the middle out of a name: its ends tell it from others."""
    if cells(text) <= width:
        return text
    head, tail = width // 2, (width - 1) // 2
    while cells(text[:head]) + 1 + cells(text[len(text) - tail :]) > width:
        head, tail = (head - 1, tail) if head >= tail else (head, tail - 1)
    return text[:head] + ELLIPSIS + text[len(text) - tail :]


def cells(text: str) -> int:
    """Columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in text)


def _styled(line: str, style: Style) -> str:
    code = STYLES.get(style)
    return f"\x1b[{code}m{line}\x1b[0m" if code and line else line


def _paragraph(block: Paragraph, width: int) -> Iterator[tuple[str, Style]]:
    """Wrap a paragraph; its own indent is kept, and the lines that follow stand two further in."""
    text = clean(block.text)
    indent = " " * (len(text) - len(text.lstrip()))
    for line in wrap(text.strip(), width, initial_indent=indent, subsequent_indent=indent + "  ") or [""]:
        yield line, block.style


def _grid(grid: Grid, width: int) -> Iterator[tuple[str, Style]]:
    rows = [[clean(cell) for cell in line] for line in grid.lines]
    if grid.headed:
        rows.insert(0, [heading.text for heading in grid.headings])
    kept = list(range(len(grid.headings)))
    sizes = _sizes(grid, rows, kept, width)
    while sizes is None:
        kept.remove(max(kept, key=lambda column: grid.headings[column].drop))
        sizes = _sizes(grid, rows, kept, width)
    if grid.title:
        yield "", "plain"
        gone = [heading.text for column, heading in enumerate(grid.headings) if column not in kept]
        narrow = f" (too narrow for: {', '.join(gone)})" if gone else ""
        yield from _paragraph(Paragraph(grid.title + narrow, "title"), width)
    alarms = {position + grid.headed for position in grid.alarms}
    for position, row in enumerate(rows):
        style: Style = "alarm" if position in alarms else "quiet" if grid.headed and position == 0 else "plain"
        for line in _line(grid, [(column, row[column]) for column in kept], sizes):
            yield line, style


def _sizes(grid: Grid, rows: Sequence[Sequence[str]], kept: Sequence[int], width: int) -> dict[int, int] | None:
    """Widths of columns; None where one that may go has to."""
    sizes = {column: max(cells(row[column]) for row in rows) if rows else 0 for column in kept}
    flexible = [column for column in kept if grid.headings[column].sort != "figure"]
    room = width - GAP * (len(kept) - 1) - sum(sizes[column] for column in kept if column not in flexible)
    wanted = sum(min(sizes[column], ROOM_FOR_NAMES) for column in flexible)
    if room < wanted and any(grid.headings[column].drop for column in kept):
        return None
    while flexible and sum(sizes[column] for column in flexible) > room:
        widest = max(flexible, key=sizes.__getitem__)
        if sizes[widest] <= LEAST_OF_A_NAME:
            break
        sizes[widest] -= 1
    return sizes


def _line(grid: Grid, cells_: Sequence[tuple[int, str]], sizes: dict[int, int]) -> Iterator[str]:
    """One row; a remark that is wrapped stands under itself."""
    parts = []
    more: list[str] = []
    start = 0
    for column, cell in cells_:
        sort, size = grid.headings[column].sort, sizes[column]
        if sort == "remark":
            first, *rest = wrap(cell, max(size, 1)) or [""]
            more += [" " * start + line for line in rest]
            parts.append(first)
        elif sort == "name":
            short = shorten(cell, size)
            parts.append(short + " " * (size - cells(short)))
        else:
            parts.append(cell.rjust(size))
        start += size + GAP
    yield (" " * GAP).join(parts)
    yield from more

"""Blocks as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from neural_cost.analyzer.tables.blocks import Block, Grid, Paragraph, Style
from neural_cost.analyzer.tables.figures import clean

STYLES: dict[Style, str] = {
    "title": "font-weight:bold",
    "warning": "color:#a15c00",
    "alarm": "font-weight:bold;color:#b00020",
    "quiet": "opacity:0.7",
}


def to_html(blocks: Iterable[Block]) -> str:
    """Each paragraph a `div`, each grid a `table`; names are escaped."""
    body = "\n".join(_paragraph(block) if isinstance(block, Paragraph) else _grid(block) for block in blocks)
    return f"<div>\n{body}\n</div>"


def _paragraph(block: Paragraph) -> str:
    style = STYLES.get(block.style)
    return f"<div{_style(style)}>{_text(block.text)}</div>"


def _grid(grid: Grid) -> str:
    caption = f"<caption{_style('text-align:left;font-weight:bold')}>{_text(grid.title)}</caption>"
    aligned = [f"text-align:{'right' if heading.sort == 'figure' else 'left'}" for heading in grid.headings]
    head = "".join(f"<th{_style(a)}>{_text(h.text)}</th>" for a, h in zip(aligned, grid.headings, strict=True))
    lines = [
        f"<tr{_style(STYLES['alarm'] if position in grid.alarms else None)}>"
        + "".join(f"<td{_style(a)}>{_text(cell)}</td>" for a, cell in zip(aligned, line, strict=True))
        + "</tr>"
        for position, line in enumerate(grid.lines)
    ]
    parts = [
        *([caption] if grid.title else []),
        *([f"<thead><tr>{head}</tr></thead>"] if grid.headed else []),
        "<tbody>", *lines, "</tbody>",
    ]  # fmt: skip
    return "<table>\n" + "\n".join(parts) + "\n</table>"


def _style(style: str | None) -> str:
    return f' style="{style}"' if style else ""


def _text(text: str) -> str:
    return escape(clean(text))

"""Rows as CSV and as Markdown. An unknown figure is an empty cell, never 0."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO
from typing import Any

from neural_cost.analyzer.tables.figures import clean


def to_csv(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """A header and a line for each row."""
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row[column]) for column in columns] for row in rows)
    return buffer.getvalue().rstrip("\n")


def to_markdown(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """A table of GitHub's Markdown."""
    lines = [columns, ["---"] * len(columns)]
    lines += [[_cell(row[column]).replace("|", "\\|") for column in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    return "" if value is None else clean(str(value))

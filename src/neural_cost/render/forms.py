"""In which form a result is written."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any


class Format(StrEnum):
    """How a result is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def delimited(form: Format, found: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """Rows as CSV or as Markdown."""
    from neural_cost.render.delimited import to_csv, to_markdown

    return (to_csv if form is Format.CSV else to_markdown)(found, names)

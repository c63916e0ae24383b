"""In which form a result is written, and the options that every command has."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from neural_cost.options import choice


class Format(StrEnum):
    """How a result is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


FormatOption = Annotated[Format, choice(Format, "How to write the result.", "--format")]
OutputOption = Annotated[Path | None, typer.Option(help="File to write to instead of stdout.", readable=False)]
QuietOption = Annotated[bool, typer.Option("--quiet", help="The least: totals without rows, and no progress.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", help="All there is: every unknown, every source and note.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def delimited(form: Format, found: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """Rows as CSV or as Markdown."""
    from neural_cost.render.delimited import to_csv, to_markdown

    return (to_csv if form is Format.CSV else to_markdown)(found, names)

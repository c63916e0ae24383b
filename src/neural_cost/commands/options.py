"""The options that more than one command has, each declared once; and what helps to declare the others."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from neural_cost.analyzer.errors import closest
from neural_cost.render.forms import Format

SAVED = "package.module:factory, file.py:factory, a saved model (.pt2, .keras), zoo:NAME[@FRAMEWORK] or hf:PATH."
ROWS, MEMORY, TRAINING, RESULT = "Rows", "Memory", "Training", "Result"  # headings in the help of a command


def target_argument(help_: str) -> Any:
    """The model that a command is about; brackets in help would be read as markup."""
    return typer.Argument(help=help_.replace("[", "\\["), metavar="TARGET")


def choice(kind: type[StrEnum], help_: str, *names: str, panel: str | None = None) -> Any:
    """An option that is one of an enumeration; typer's own says what its validator says."""

    def chosen(text: str) -> StrEnum:
        try:
            return kind(text)
        except ValueError as error:
            meant = closest(text, kind)
            known = ", ".join(kind)
            raise typer.BadParameter(f'"{text}" is none of them{meant}: choose one of {known}.') from error

    told = f"{help_} One of: {', '.join(kind)}."
    return typer.Option(*names, help=told, parser=chosen, metavar="NAME", rich_help_panel=panel)


def switch(name: str, help_: str, panel: str | None = None) -> Any:
    """An option that is there or not."""
    return typer.Option(name, help=help_, metavar="", rich_help_panel=panel)


def file_to_write(help_: str, *names: str, panel: str | None = None) -> Any:
    """An option that names a file to write."""
    return typer.Option(*names, help=help_, metavar="FILE", readable=False, rich_help_panel=panel)


def file_to_read(help_: str, *names: str, panel: str | None = None) -> Any:
    """An option that names a file to read."""
    return typer.Option(*names, help=help_, metavar="FILE", rich_help_panel=panel)


def whole_number(help_: str, *names: str, least: int = 1, panel: str | None = None) -> Any:
    """An option that is a whole number."""
    return typer.Option(*names, help=help_, min=least, metavar="N", rich_help_panel=panel)


def number(help_: str) -> Any:
    """An option that is a number."""
    return typer.Option(help=help_, metavar="NUMBER")


def seconds(help_: str, *names: str, least: float = 0) -> Any:
    """An option that is a time."""
    return typer.Option(*names, help=help_, min=least, metavar="SECONDS")


DimOption = Annotated[
    list[str] | None, typer.Option(help="A dimension, or an axis as INPUT:AXIS=SIZE; repeatable.", metavar="NAME=SIZE")
]
ShapeOption = Annotated[
    list[str] | None, typer.Option(help="A whole input, as x=8x3x224x224; repeatable.", metavar="INPUT=SHAPE")
]
TripsOption = Annotated[
    list[str] | None, typer.Option(help="How often a Loop's body runs; repeatable.", metavar="LOOP=N")
]
DeviceOption = Annotated[
    list[str] | None, typer.Option(help="Device to bound the time on; by default this CPU.", metavar="NAME")
]
DepthOption = Annotated[int | None, whole_number("How deep into modules, with --by module.", panel=ROWS)]
TopOption = Annotated[int | None, whole_number("How many rows; 10 in a table, else all.", panel=ROWS)]
FormatOption = Annotated[Format, choice(Format, "How to write the result.", "--format", panel=RESULT)]
OutputOption = Annotated[Path | None, file_to_write("File to write to instead of stdout.", panel=RESULT)]
QuietOption = Annotated[bool, switch("--quiet", "The least: totals without rows, and no progress.", RESULT)]
VerboseOption = Annotated[bool, switch("--verbose", "All there is: every unknown, every source and note.", RESULT)]
DebugOption = Annotated[bool, switch("--debug", "Show the traceback of an error.", RESULT)]

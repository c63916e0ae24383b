"""`neural-cost export TARGET -o model.onnx`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from neural_cost.commands.fitting import check_loudness
from neural_cost.commands.options import (
    RESULT,
    SAVED,
    DebugOption,
    choice,
    file_to_write,
    switch,
    target_argument,
    whole_number,
)
from neural_cost.render.output import check
from neural_cost.render.progress import Progress


class Form(StrEnum):
    """How the record of an export is written."""

    TABLE = "table"
    JSON = "json"


def export(  # noqa: PLR0917 - typer turns each into an option
    target: Annotated[str, target_argument(SAVED)],
    output: Annotated[Path, file_to_write("The .onnx file to write.", "--output", "-o")],
    open_: Annotated[
        list[str] | None,
        typer.Option("--open", help="Leave an axis open; repeatable.", metavar="INPUT:AXIS=NAME"),
    ] = None,
    fixed: Annotated[bool, switch("--fixed", "Leave no axis open.")] = False,
    opset: Annotated[int | None, whole_number("Opset; by default what the exporter does best.")] = None,
    no_verify: Annotated[bool, switch("--no-verify", "Do not compare the file with the model.")] = False,
    form: Annotated[Form, choice(Form, "How to write the record.", "--format", panel=RESULT)] = Form.TABLE,
    quiet: Annotated[bool, switch("--quiet", "No progress and no summary.", RESULT)] = False,
    verbose: Annotated[bool, switch("--verbose", "What the exporter said, too.", RESULT)] = False,
    _debug: DebugOption = False,
) -> None:
    """Export a framework's model to an ONNX file, and check that it computes the same."""
    from neural_cost.exporters.export import export as run
    from neural_cost.targets import is_onnx, load, named

    check_loudness(quiet=quiet, verbose=verbose)
    if fixed and open_:
        raise typer.BadParameter("--fixed and --open exclude each other.")
    if is_onnx(target):
        raise typer.BadParameter(f"{target} is no model of a framework: give {SAVED}")
    dims = {} if fixed else _dims(open_) if open_ else None
    check(output)
    with named(target), Progress(quiet=quiet) as progress:
        source = load(target, progress)
        exported = run(
            source.model,
            source.example_inputs,
            output,
            dynamic_dims=dims,
            opset=opset,
            verify=not no_verify,
            progress=progress,
        )
    if form is Form.JSON:
        typer.echo(json.dumps(exported.to_dict(), indent=1))
    elif not quiet:
        typer.echo(str(exported))
        for warning in exported.warnings if verbose else ():
            typer.echo(f"the exporter said: {warning}", err=True)


def _dims(texts: Sequence[str]) -> dict[str, dict[int, str]]:
    """Names of open axes, of INPUT:AXIS=NAME."""
    dims: dict[str, dict[int, str]] = {}
    for text in texts:
        place, _, dim = text.partition("=")
        name, _, axis = place.rpartition(":")
        if not (name and dim and axis.isascii() and axis.isdigit()):
            raise typer.BadParameter(f'"{text}" is not of the form INPUT:AXIS=NAME.')
        if (first := dims.setdefault(name, {}).setdefault(int(axis), dim)) != dim:
            raise typer.BadParameter(f'--open gives "{place}" the names {first} and {dim}: give it one.')
    return dims

"""`neural-cost export TARGET -o model.onnx`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from neural_cost.options import choice
from neural_cost.render.output import check
from neural_cost.render.progress import Progress

HELP = "package.module:factory, file.py:factory, a saved model (.pt2, .keras), zoo:NAME[@FRAMEWORK] or hf:PATH."


class Form(StrEnum):
    """How the record of an export is written."""

    TABLE = "table"
    JSON = "json"


def export(  # noqa: PLR0917 - typer turns each into an option
    target: Annotated[str, typer.Argument(help=HELP)],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .onnx file to write.", readable=False)],
    open_: Annotated[
        list[str] | None, typer.Option("--open", help="INPUT:AXIS=NAME: leave an axis open; repeatable.")
    ] = None,
    fixed: Annotated[bool, typer.Option("--fixed", help="Leave no axis open.")] = False,
    opset: Annotated[int | None, typer.Option(help="Opset; by default what the exporter does best.", min=1)] = None,
    no_verify: Annotated[bool, typer.Option("--no-verify", help="Do not compare the file with the model.")] = False,
    form: Annotated[Form, choice(Form, "How to write the record.", "--format")] = Form.TABLE,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no summary.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="What the exporter said, too.")] = False,
    _debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Export a framework's model to an ONNX file, and check that it computes the same."""
    from neural_cost.exporters.export import export as run
    from neural_cost.targets import is_onnx, load, named

    if fixed and open_:
        raise typer.BadParameter("--fixed and --open exclude each other.")
    if is_onnx(target):
        raise typer.BadParameter(f"{target} is no model of a framework: give {HELP}")
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

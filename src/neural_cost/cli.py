"""The command `neural-cost`: results on stdout, the rest on stderr, a user's mistake in one sentence."""

from __future__ import annotations

from typing import Annotated

import typer

from neural_cost.commands import ending
from neural_cost.commands.analyze import analyze
from neural_cost.commands.compare import compare
from neural_cost.commands.export import export
from neural_cost.commands.hardware import hardware
from neural_cost.commands.profile import profile

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)

for command in (analyze, profile, compare, export, hardware):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        from neural_cost import __version__

        typer.echo(f"neural-cost {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """What a neural network costs, from its ONNX file."""


def main() -> None:
    """Run the command."""
    ending.run(app)

"""The command line: results on stdout, the rest on stderr, a user's mistake in one sentence."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True, help="What a neural network costs.")


class Format(StrEnum):
    """How a result is written."""

    TABLE = "table"
    JSON = "json"


@app.callback()
def root() -> None:
    """What a neural network costs, from its ONNX file."""


@app.command()
def analyze(  # noqa: PLR0917 - typer turns each into an option
    target: Annotated[Path, typer.Argument(help="An .onnx file.")],
    dim: Annotated[list[str] | None, typer.Option(help="NAME=SIZE or INPUT:AXIS=SIZE; repeatable.")] = None,
    shape: Annotated[list[str] | None, typer.Option(help="INPUT=8x3x224x224; repeatable.")] = None,
    top: Annotated[int, typer.Option(help="How many nodes to show.", min=1)] = 10,
    format: Annotated[Format, typer.Option(help="How to write the result.")] = Format.TABLE,
    output: Annotated[Path | None, typer.Option(help="File to write to instead of stdout.")] = None,
    debug: Annotated[bool, typer.Option(help="Show the traceback of an error.")] = False,
) -> None:
    """Cost every node of an ONNX file."""
    from neural_cost import analyze as run
    from neural_cost.analyzer.errors import NeuralCostError

    dims = {name: _size(name, size) for name, size in map(_split, dim or [])}
    shapes = {name: [_size(name, part) for part in sizes.split("x")] for name, sizes in map(_split, shape or [])}
    try:
        report = run(target, dims=dims, shapes=shapes)
    except NeuralCostError as error:
        if debug:
            raise
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code) from error
    data = report.to_dict()
    text = json.dumps(data, indent=1) if format is Format.JSON else table(data, top)
    _write(text, output)


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise typer.BadParameter(f'"{text}" is not of the form NAME=SIZE.')
    return name, value


def _size(name: str, text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise typer.BadParameter(f'"{name}" cannot be {text}: a size is a positive whole number.')
    return int(text)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        typer.echo(text)
        return
    try:
        descriptor, temporary = tempfile.mkstemp(dir=output.parent, prefix=output.name)
        with os.fdopen(descriptor, "w") as file:
            file.write(text + "\n")
        Path(temporary).replace(output)
    except OSError as error:
        typer.echo(f"{output} cannot be written ({error.strerror}); give another --output.", err=True)
        raise typer.Exit(2) from error


def table(data: dict[str, Any], top: int) -> str:
    """The report as text."""
    totals, model, coverage = data["totals"], data["model"], data["coverage"]
    least = "" if totals["complete"] else "at least "
    lines = [f"{model['path']}  opset {model['opsets'].get('', '?')}, {model['nodes']} nodes"]
    if model["assumed_dims"]:
        lines.append(f"taken as 1, since nobody gave them: {', '.join(model['assumed_dims'])}")
    lines += [f'false declared shape of "{f["tensor"]}": not trusted' for f in model["false_shapes"]]
    lines += [
        f"MACs        {least}{scaled(totals['macs'])}",
        f"FLOPs       {least}{scaled(totals['flops'])}  (2 a MAC, and {scaled(totals['other_flops'])} others)",
        f"parameters  {least}{totals['parameters']:,} ({scaled(totals['parameter_bytes'])}B)",
        f"traffic     {least}{scaled(totals['traffic_bytes']['per_op'])}B, nothing fused",
    ]
    known = sorted((node for node in data["nodes"] if node["flops"]), key=lambda node: -node["flops"])
    lines += [
        f"  {node['name'][:40]:40} {node['op_type'][:20]:20} {scaled(node['macs']):>10} MACs"
        f" {node['flops'] / totals['flops']:6.1%} of FLOPs"
        for node in known[:top]
    ]
    lines.append(f"{coverage['costed']} of {coverage['nodes']} nodes costed")
    lines += [
        f"left out: {u['domain'] or 'ai.onnx'}::{u['op_type']} x {u['nodes']}: {u['why']}"
        for u in coverage["uncounted"]
    ]
    lines += [f'left out: "{u["node"]}": {u["why"]}' for u in coverage["unknown_shapes"][:20]]
    hidden = len(coverage["unknown_shapes"]) - 20
    if hidden > 0:
        lines.append(f"left out: {hidden} more; --format json lists them")
    return "\n".join(lines + data["notes"])


def scaled(count: int) -> str:
    """A count with the unit that fits it."""
    for unit, size in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} "


def main() -> None:
    """Run the command; what escapes is a fault of this program, and is said to be one."""
    try:
        app()
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        typer.echo(f"neural-cost failed on this model ({error!r}); this is a fault: report it with --debug.", err=True)
        sys.exit(3)

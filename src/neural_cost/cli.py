"""The command line: results on stdout, the rest on stderr, a user's mistake in one sentence."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neural_cost.render.grouping import By, Column
from neural_cost.render.output import write

if TYPE_CHECKING:
    from neural_cost.analyzer.device import Device
    from neural_cost.analyzer.report import Report
    from neural_cost.render.table import View
    from neural_cost.runtime.verify import Verification

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


class DataDependent(StrEnum):
    """What is taken for a size that only a run finds."""

    UNKNOWN = "unknown"
    UPPER = "upper"


class Causal(StrEnum):
    """What of causal attention is counted."""

    FULL = "full"
    HALF = "half"


class Format(StrEnum):
    """How a result is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


FormatOption = Annotated[Format, typer.Option("--format", help="How to write the result.")]
OutputOption = Annotated[Path | None, typer.Option(help="File to write to instead of stdout.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@app.callback()
def root() -> None:
    """What a neural network costs, from its ONNX file."""


@app.command()
def analyze(  # noqa: PLR0917 - typer turns each into an option
    target: Annotated[Path, typer.Argument(help="An .onnx file.")],
    dim: Annotated[list[str] | None, typer.Option(help="NAME=SIZE or INPUT:AXIS=SIZE; repeatable.")] = None,
    shape: Annotated[list[str] | None, typer.Option(help="INPUT=8x3x224x224; repeatable.")] = None,
    trips: Annotated[list[str] | None, typer.Option(help="LOOP=N: how often a Loop's body runs; repeatable.")] = None,
    rules: Annotated[Path | None, typer.Option(help="A Python file of yours with cost rules; it is run.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Run it once in ONNX Runtime and compare.")] = False,
    inputs: Annotated[Path | None, typer.Option(help="An .npz file of inputs for --verify, by name.")] = None,
    data_dependent: Annotated[DataDependent, typer.Option(help="Sizes that only a run finds.")] = DataDependent.UNKNOWN,
    causal: Annotated[Causal, typer.Option(help="Causal attention: all products, or the half needed.")] = Causal.FULL,
    device: Annotated[str | None, typer.Option(help="Device to bound the time on; by default this CPU.")] = None,
    by: Annotated[By | None, typer.Option(help="What a row is. A table has nodes and operators without it.")] = None,
    depth: Annotated[int | None, typer.Option(help="How deep into modules, with --by module.", min=1)] = None,
    top: Annotated[int | None, typer.Option(help="How many rows; 10 in a table, else all.", min=1)] = None,
    sort: Annotated[Column, typer.Option(help="Column to sort by.")] = Column.FLOPS,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Totals and coverage alone.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="All that is unknown, however long.")] = False,
    _debug: DebugOption = False,
) -> None:
    """Cost every node of an ONNX file."""
    from neural_cost import analyze as run
    from neural_cost.render.table import View

    if inputs is not None and not verify:
        raise typer.BadParameter("--inputs needs --verify.")
    if verify and data_dependent is DataDependent.UPPER:
        raise typer.BadParameter(
            "--verify compares with a run, where sizes are not the largest: leave --data-dependent out."
        )
    dims = {name: _size(name, size) for name, size in map(_split, dim or [])}
    shapes = {name: [_size(name, part) for part in sizes.split("x")] for name, sizes in map(_split, shape or [])}
    if depth is not None and by is not By.MODULE:
        raise typer.BadParameter("--depth needs --by module.")
    if rules is not None:
        _run_rules(rules)
    report = run(
        target,
        dims=dims,
        shapes=shapes,
        device=device or _this_machine(),
        trips={name: _trips(name, count) for name, count in map(_split, trips or [])},
        data_dependent=data_dependent.value,
        causal=causal.value,
    )
    found = _verified(report, inputs) if verify else None
    text = _report_text(report, form, View(by, depth, top or 10, sort, quiet, verbose), top, output)
    write(text if found is None else _with_verification(text, found, form), output)
    if found is not None and found.differences:
        raise typer.Exit(1)


@app.command()
def hardware(
    all_: Annotated[bool, typer.Option("--list", help="Every device whose datasheet is known.")] = False,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    _debug: DebugOption = False,
) -> None:
    """Show this machine's CPU as a device, or all devices of the table."""
    from neural_cost.analyzer.device_table import list_devices
    from neural_cost.runtime.detect import local_device

    devices = list_devices() if all_ else [local_device()]
    write(_devices_text(devices, form, single=not all_, output=output), output)


def main() -> None:
    """Run the command; what escapes that is not meant for the user is a fault of this program, and is said to be."""
    from neural_cost.analyzer.errors import NeuralCostError

    try:
        app()
    except NeuralCostError as error:
        _fail(str(error), error.exit_code)
    except Exception as error:
        _fail(f"neural-cost failed ({error!r}): this is its own fault, please report it with what --debug adds.", 3)


def _fail(message: str, code: int) -> None:
    if "--debug" in sys.argv:
        import traceback

        traceback.print_exc()
    typer.echo(message, err=True)
    sys.exit(code)


def _this_machine() -> Device | None:
    """This CPU as a device; None where nothing is known of it, so that a bound is left out rather than the report."""
    from neural_cost.analyzer.errors import DeviceError
    from neural_cost.runtime.detect import local_device

    try:
        return local_device()
    except DeviceError:
        return None


def _verified(report: Report, inputs: Path | None) -> Verification:
    from neural_cost.runtime.inputs import load_inputs
    from neural_cost.runtime.verify import verify

    return verify(report, None if inputs is None else load_inputs(inputs))


def _with_verification(text: str, found: Verification, form: Format) -> str:
    """The report and the comparison; a format that has no room for it leaves it to stderr."""
    from neural_cost.render.text import clean

    if form is Format.JSON:
        return json.dumps(json.loads(text) | {"verification": found.to_dict()}, indent=1)
    if form is Format.TABLE:
        return "\n".join([text, *map(clean, str(found).splitlines())])
    typer.echo(str(found), err=True)
    return text


def _report_text(report: Report, form: Format, view: View, top: int | None, output: Path | None) -> str:
    from neural_cost.render.delimited import to_csv, to_markdown
    from neural_cost.render.grouping import columns, rows
    from neural_cost.render.table import colour_wanted, report_table

    data = report.to_dict()
    if form is Format.JSON:
        return json.dumps(data, indent=1)
    if form is Format.TABLE:
        return report_table(data, view, colour=output is None and colour_wanted())
    by = view.by or By.NODE
    found = rows(data["nodes"], by, view.depth, view.sort)[:top]
    return (to_csv if form is Format.CSV else to_markdown)(found, columns(by))


def _devices_text(devices: list[Device], form: Format, *, single: bool, output: Path | None) -> str:
    from neural_cost.render.delimited import to_csv, to_markdown
    from neural_cost.render.devices import COLUMNS, device_rows, device_table
    from neural_cost.render.table import colour_wanted

    if form is Format.JSON:
        records = [device.to_dict() for device in devices]
        return json.dumps(records[0] if single else records, indent=1)
    if form is Format.TABLE:
        return device_table(devices, notes=single, colour=output is None and colour_wanted())
    return (to_csv if form is Format.CSV else to_markdown)(device_rows(devices), COLUMNS)


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise typer.BadParameter(f'"{text}" is not of the form NAME=SIZE.')
    return name, value


def _run_rules(file: Path) -> None:
    """Run a user's own rules, which register themselves."""
    import runpy

    if not file.is_file():
        raise typer.BadParameter(f"{file} does not exist; give a Python file with rules.")
    try:
        runpy.run_path(str(file), run_name=file.stem)
    except Exception as error:
        _fail(f"{file} failed: {type(error).__name__}: {error}; --debug shows where.", 2)


def _trips(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise typer.BadParameter(f'"{name}" cannot run {text} times: trips are a whole number.')
    return int(text)


def _size(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise typer.BadParameter(f'"{name}" cannot be {text}: a size is a positive whole number.')
    return int(text)

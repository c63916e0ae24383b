"""The command line: results on stdout, the rest on stderr, a user's mistake in one sentence."""

from __future__ import annotations

import atexit
import gc
import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neural_cost.analyzer.tables.view import By, Column, View
from neural_cost.analyzer.training.options import Checkpoint, Optimizer, Precision
from neural_cost.commands.compare import compare
from neural_cost.commands.export import HELP as TARGETS
from neural_cost.commands.export import export
from neural_cost.commands.hardware import hardware
from neural_cost.commands.profile import profile
from neural_cost.options import (
    DeviceOption,
    DimOption,
    ShapeOption,
    Sizes,
    TripsOption,
    check_view,
    choice,
    device_of,
    dims_of,
    fail,
    run_rules,
    shapes_of,
    training_of,
    trips_of,
)
from neural_cost.render.forms import (
    DebugOption,
    Format,
    FormatOption,
    OutputOption,
    QuietOption,
    VerboseOption,
    delimited,
)
from neural_cost.render.output import check, colour_wanted, write
from neural_cost.render.plots.command import PlotOption, check_plot, write_plot
from neural_cost.render.progress import Progress
from neural_cost.runtime.this_machine import bounding_device
from neural_cost.targets import onnx_file

if TYPE_CHECKING:
    from neural_cost.analyzer.device import Device
    from neural_cost.analyzer.report import Report
    from neural_cost.runtime.verify import Verification

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)

app.command()(export)
app.command()(profile)
app.command()(compare)
app.command()(hardware)

INTERRUPTED = 130  # what a shell reports after Ctrl-C


class DataDependent(StrEnum):
    """What is taken for a size that only a run finds."""

    UNKNOWN = "unknown"
    UPPER = "upper"


class Causal(StrEnum):
    """What of causal attention is counted."""

    FULL = "full"
    HALF = "half"


class Order(StrEnum):
    """In which order nodes run."""

    FILE = "file"
    BEST = "best"


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


@app.command()
def analyze(  # noqa: PLR0917 - typer turns each into an option
    target: Annotated[str, typer.Argument(help=f"An .onnx file, {TARGETS}")],
    dim: DimOption = None,
    shape: ShapeOption = None,
    trips: TripsOption = None,
    rules: Annotated[Path | None, typer.Option(help="A Python file of yours with cost rules; it is run.")] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Run it once in ONNX Runtime and compare.")] = False,
    inputs: Annotated[Path | None, typer.Option(help="An .npz file of inputs for --verify, by name.")] = None,
    data_dependent: Annotated[
        DataDependent, choice(DataDependent, "Sizes that only a run finds.")
    ] = DataDependent.UNKNOWN,
    causal: Annotated[Causal, choice(Causal, "Causal attention: all products, or the half needed.")] = Causal.FULL,
    device: DeviceOption = None,
    symbolic: Annotated[bool, typer.Option("--symbolic", help="Counts as formulas of the open dimensions.")] = False,
    memory: Annotated[bool, typer.Option("--memory", help="What is alive when, and whether it fits.")] = False,
    order: Annotated[Order, choice(Order, "With --memory: beside the file's order, one that needs less.")] = Order.FILE,
    training: Annotated[bool, typer.Option("--training", help="What a training step costs.")] = False,
    optimizer: Annotated[Optimizer | None, choice(Optimizer, "With --training; adamw if not given.")] = None,
    precision: Annotated[
        Precision | None, choice(Precision, "With --training: types of weights, gradients, activations, state.")
    ] = None,
    freeze: Annotated[
        list[str] | None, typer.Option(help="With --training: pattern of weights that are not trained; repeatable.")
    ] = None,
    checkpoint: Annotated[Checkpoint | None, choice(Checkpoint, "With --training: what is computed again.")] = None,
    accumulate: Annotated[int | None, typer.Option(help="With --training: passes in a step.", min=1)] = None,
    predict: Annotated[bool, typer.Option("--predict", help="How long a run will take, without running it.")] = False,
    threads: Annotated[
        int | None, typer.Option(help="With --predict: of one operator; all cores if not given.", min=1)
    ] = None,
    plot: PlotOption = None,
    by: Annotated[By | None, choice(By, "What a row is. A table has nodes and operators without it.")] = None,
    depth: Annotated[int | None, typer.Option(help="How deep into modules, with --by module.", min=1)] = None,
    top: Annotated[int | None, typer.Option(help="How many rows; 10 in a table, else all.", min=1)] = None,
    sort: Annotated[Column | None, choice(Column, "Column to sort by; flops if not given.")] = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _debug: DebugOption = False,
) -> None:
    """Cost every node of an ONNX file."""
    if inputs is not None and not verify:
        raise typer.BadParameter("--inputs needs --verify.")
    if verify and data_dependent is DataDependent.UPPER:
        raise typer.BadParameter(
            "--verify compares with a run, where sizes are not the largest: leave --data-dependent out."
        )
    if threads is not None and not predict:
        raise typer.BadParameter("--threads needs --predict.")
    run = training_of(
        training,
        optimizer=optimizer,
        precision=precision,
        freeze=freeze,
        checkpoint=checkpoint,
        accumulate=accumulate,
    )
    view = View(
        by, depth, top, sort or Column.FLOPS, quiet, verbose, symbolic, memory, order is Order.BEST, run, predict
    )
    check_view(view, form, sorted_=sort is not None)
    check(output, Path(target), inputs, rules)
    check_plot(plot, Path(target), inputs, rules, others=(output,))
    sizes, on = Sizes(dims_of(dim), shapes_of(shape), trips_of(trips)), device_of(device)
    if rules is not None:
        run_rules(rules)
    arrays = None if inputs is None else _arrays(inputs)
    if arrays is not None:
        sizes.shapes.update({name: list(array.shape) for name, array in arrays.items()})
    with Progress(quiet=quiet) as progress:
        report = _analyzed(
            onnx_file(target, progress),
            sizes,
            device=bounding_device(on, threads=threads),
            data_dependent=data_dependent,
            causal=causal,
            progress=progress,
        )
        found = _verified(report, arrays, progress) if verify else None
    write_plot(report, plot)
    write(_report_text(report, found, form, view, colour=colour_wanted(output)), output)
    if found is not None and found.differences:
        raise typer.Exit(1)


def main() -> None:
    """Run the command; what escapes that is not meant for the user is a fault of this program, and is said to be."""
    from neural_cost.analyzer.errors import NeuralCostError

    atexit.register(gc.freeze)  # else the interpreter searches all modules for garbage before it ends: 0.1 s
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except NeuralCostError as error:
        fail(str(error), error.exit_code)
    except Exception as error:
        fail(f"neural-cost failed ({error!r}): this is its own fault, please report it with what --debug adds.", 3)


def _analyzed(
    target: Path,
    sizes: Sizes,
    *,
    device: Device | None,
    data_dependent: DataDependent,
    causal: Causal,
    progress: Progress,
) -> Report:
    from neural_cost.analyzer.collector import paused_gc

    with paused_gc():  # sympy alone makes 100,000 objects
        from neural_cost import analyze as run
    return run(
        target,
        sizes.dims,
        sizes.shapes,
        device,
        trips=sizes.trips,
        data_dependent=data_dependent.value,
        causal=causal.value,
        progress=progress,
    )


def _arrays(inputs: Path) -> Mapping[str, Any]:
    from neural_cost.runtime.inputs import load_inputs

    return load_inputs(inputs)


def _verified(report: Report, inputs: Mapping[str, Any] | None, progress: Progress) -> Verification:
    from neural_cost.runtime.verify import verify

    progress("one run in ONNX Runtime")
    return verify(report, inputs)


def _report_text(report: Report, found: Verification | None, form: Format, view: View, *, colour: bool) -> str:
    """The report, and its comparison with a run; a format that has no room for that leaves it to stderr."""
    from neural_cost.analyzer.tables.rows import columns, rows

    if form is Format.JSON:
        return json.dumps(_report_data(report, found, view), indent=1)
    if form is Format.TABLE:
        return _table(report, found, view, colour=colour)
    if found is not None and not view.quiet:
        typer.echo(str(found), err=True)
    if view.training is not None:
        return _training_rows(report, form, view)
    if view.predict:
        return _prediction_rows(report, form, view)
    by = view.by or By.NODE
    return delimited(form, rows(report.nodes, by, view.depth, view.sort)[: view.top], columns(by))


def _training_rows(report: Report, form: Format, view: View) -> str:
    """The nodes that run backward; what they leave out goes to stderr."""
    from neural_cost.analyzer.training.record import NodeTraining

    found = report.training(view.training)
    for each in () if view.quiet else (*found.uncounted, *found.unknown):
        typer.echo(f"left out backward: {each.get('op_type') or each.get('node')}: {each['why']}", err=True)
    return delimited(form, [node.to_dict() for node in found.nodes][: view.top], list(NodeTraining.__slots__))


def _prediction_rows(report: Report, form: Format, view: View) -> str:
    """The kernels that are predicted; what makes them doubtful goes to stderr."""
    from neural_cost.analyzer.tables.prediction import COLUMNS, prediction_rows

    found = report.prediction
    for note in () if view.quiet else found.notes:
        typer.echo(note, err=True)
    return delimited(form, prediction_rows(found, report.nodes)[: view.top], list(COLUMNS))


def _report_data(report: Report, found: Verification | None, view: View) -> dict[str, Any]:
    from neural_cost.analyzer.tables.rows import rows

    data = report.to_dict(
        memory=view.memory, best_order=view.best_order, training=view.training, prediction=view.predict
    )
    if view.by is not None:
        shown = rows(report.nodes, view.by, view.depth, view.sort)[: view.top]
        data["view"] = {"by": view.by.value, "depth": view.depth, "sort": view.sort.value, "rows": shown}
    return data if found is None else data | {"verification": found.to_dict()}


def _table(report: Report, found: Verification | None, view: View, *, colour: bool) -> str:
    from neural_cost.analyzer.tables.blocks import Paragraph
    from neural_cost.analyzer.tables.summary import summary
    from neural_cost.analyzer.tables.text import to_text

    ran = [] if found is None else [Paragraph(line) for line in str(found).splitlines()]
    return to_text([*summary(report, view), *ran], colour=colour)

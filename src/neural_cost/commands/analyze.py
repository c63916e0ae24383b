"""`neural-cost analyze TARGET`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neural_cost.analyzer.memory.fits import InPlace
from neural_cost.analyzer.tables.view import By, Column, View
from neural_cost.analyzer.training.options import Checkpoint, Optimizer, Precision
from neural_cost.commands.ending import fail
from neural_cost.commands.fitting import check_view, training_of
from neural_cost.commands.options import (
    MEMORY,
    ROWS,
    SAVED,
    TRAINING,
    DebugOption,
    DepthOption,
    DeviceOption,
    DimOption,
    FormatOption,
    OutputOption,
    QuietOption,
    ShapeOption,
    TopOption,
    TripsOption,
    VerboseOption,
    choice,
    file_to_read,
    switch,
    target_argument,
    whole_number,
)
from neural_cost.commands.plotting import PlotOption, check_plot, write_plot
from neural_cost.commands.values import Sizes, device_of, dims_of, shapes_of, trips_of
from neural_cost.render.forms import Format
from neural_cost.render.output import check, colour_wanted, write
from neural_cost.render.progress import Progress
from neural_cost.render.report import report_text
from neural_cost.runtime.this_machine import bounding_device
from neural_cost.targets import onnx_file

if TYPE_CHECKING:
    from neural_cost.analyzer.device import Device
    from neural_cost.analyzer.report import Report
    from neural_cost.runtime.verify import Verification


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


def analyze(  # noqa: PLR0917 - typer turns each into an option
    target: Annotated[str, target_argument(f"An .onnx file, {SAVED}")],
    dim: DimOption = None,
    shape: ShapeOption = None,
    trips: TripsOption = None,
    rules: Annotated[Path | None, file_to_read("A Python file of yours with cost rules; it is run.")] = None,
    verify: Annotated[bool, switch("--verify", "Run it once in ONNX Runtime and compare.")] = False,
    inputs: Annotated[Path | None, file_to_read("An .npz file of inputs for --verify, by name.")] = None,
    data_dependent: Annotated[
        DataDependent, choice(DataDependent, "Sizes that only a run finds.")
    ] = DataDependent.UNKNOWN,
    causal: Annotated[Causal, choice(Causal, "Causal attention: all products, or the half needed.")] = Causal.FULL,
    device: DeviceOption = None,
    symbolic: Annotated[bool, switch("--symbolic", "Counts as formulas of the open dimensions.")] = False,
    predict: Annotated[bool, switch("--predict", "How long a run will take, without running it.")] = False,
    threads: Annotated[
        int | None, whole_number("With --predict: threads of one operator; all cores if not given.")
    ] = None,
    memory: Annotated[bool, switch("--memory", "What is alive when, and whether it fits.", MEMORY)] = False,
    order: Annotated[
        Order, choice(Order, "With --memory: beside the file's order, one that needs less.", panel=MEMORY)
    ] = Order.FILE,
    in_place: Annotated[
        InPlace,
        choice(
            InPlace,
            "With --memory: which figure has to fit, with or without tensors written over others.",
            panel=MEMORY,
        ),
    ] = InPlace.BOTH,
    training: Annotated[bool, switch("--training", "What a training step costs.", TRAINING)] = False,
    optimizer: Annotated[
        Optimizer | None, choice(Optimizer, "With --training; adamw if not given.", panel=TRAINING)
    ] = None,
    precision: Annotated[
        Precision | None,
        choice(Precision, "With --training: types of weights, gradients, activations, state.", panel=TRAINING),
    ] = None,
    freeze: Annotated[
        list[str] | None,
        typer.Option(
            help="With --training: weights that are not trained; repeatable.",
            metavar="PATTERN",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    checkpoint: Annotated[
        Checkpoint | None, choice(Checkpoint, "With --training: what is computed again.", panel=TRAINING)
    ] = None,
    accumulate: Annotated[int | None, whole_number("With --training: passes in a step.", panel=TRAINING)] = None,
    by: Annotated[
        By | None, choice(By, "What a row is. A table has nodes and operators without it.", panel=ROWS)
    ] = None,
    depth: DepthOption = None,
    top: TopOption = None,
    sort: Annotated[Column | None, choice(Column, "Column to sort by; flops if not given.", panel=ROWS)] = None,
    plot: PlotOption = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    _debug: DebugOption = False,
) -> None:
    """Cost every node of an ONNX file."""
    _check_needs(inputs, verify=verify, data_dependent=data_dependent, threads=threads, predict=predict)
    run = training_of(
        training,
        optimizer=optimizer,
        precision=precision,
        freeze=freeze,
        checkpoint=checkpoint,
        accumulate=accumulate,
    )
    view = View(
        by=by,
        depth=depth,
        top=top,
        sort=sort or Column.FLOPS,
        quiet=quiet,
        verbose=verbose,
        symbolic=symbolic,
        memory=memory,
        best_order=order is Order.BEST,
        in_place=in_place,
        training=run,
        predict=predict,
    )
    check_view(view, form, sorted_=sort is not None)
    check(output, Path(target), inputs, rules)
    check_plot(plot, Path(target), inputs, rules, others=(output,))
    sizes, on = Sizes(dims_of(dim), shapes_of(shape), trips_of(trips)), device_of(device)
    if rules is not None:
        _run_rules(rules)
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
    write(report_text(report, found, form, view, colour=colour_wanted(output)), output)
    if found is not None and found.differences:
        raise typer.Exit(1)


def _check_needs(
    inputs: Path | None, *, verify: bool, data_dependent: DataDependent, threads: int | None, predict: bool
) -> None:
    """Refuse options that nothing would listen to, or that contradict each other."""
    if inputs is not None and not verify:
        raise typer.BadParameter("--inputs needs --verify.")
    if verify and data_dependent is DataDependent.UPPER:
        raise typer.BadParameter(
            "--verify compares with a run, where sizes are not the largest: leave --data-dependent out."
        )
    if threads is not None and not predict:
        raise typer.BadParameter("--threads needs --predict.")


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


def _run_rules(file: Path) -> None:
    """Run a user's own rules, which register themselves."""
    import runpy

    if not file.is_file():
        wrong = "is no file" if file.exists() else "does not exist"
        raise typer.BadParameter(f"{file} {wrong}; give a Python file with rules.")
    from neural_cost.analyzer.errors import NeuralCostError

    try:
        runpy.run_path(str(file), run_name=file.stem)
    except NeuralCostError as error:
        fail(f"{file}: {error}.", 2)
    except SystemExit:
        fail(f"{file} ended the program: a file of rules may not call sys.exit.", 2)
    except Exception as error:
        fail(f"{file} failed: {type(error).__name__}: {error}; --debug shows where.", 2)

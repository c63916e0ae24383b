"""`neural-cost profile TARGET`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neural_cost.analyzer.tables.view import ProfileBy
from neural_cost.commands.ending import INTERRUPTED
from neural_cost.commands.fitting import ProfileRows, check_profile_rows
from neural_cost.commands.options import (
    RESULT,
    ROWS,
    SAVED,
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
    choice,
    file_to_read,
    file_to_write,
    seconds,
    target_argument,
    whole_number,
)
from neural_cost.commands.plotting import PlotOption, check_plot, write_plot
from neural_cost.commands.values import Sizes, device_of, dims_of, shapes_of, trips_of
from neural_cost.render.forms import Format, delimited
from neural_cost.render.output import check, colour_wanted, write
from neural_cost.render.progress import Progress, say_warnings
from neural_cost.targets import HF, onnx_file

if TYPE_CHECKING:
    from neural_cost.runtime.profile import Profile


class Level(StrEnum):
    """How far ONNX Runtime rewrites the graph."""

    DISABLE = "disable"
    BASIC = "basic"
    EXTENDED = "extended"
    ALL = "all"


def profile(  # noqa: PLR0917 - typer turns each into an option
    target: Annotated[str, target_argument(f"An .onnx file, {SAVED}")],
    dim: DimOption = None,
    shape: ShapeOption = None,
    trips: TripsOption = None,
    inputs: Annotated[Path | None, file_to_read("An .npz file of inputs, by name; else made up.")] = None,
    provider: Annotated[
        str, typer.Option(help="What it runs on: cpu, cuda, tensorrt, coreml...", metavar="NAME")
    ] = "cpu",
    threads: Annotated[int | None, whole_number("Threads of an operator; ONNX Runtime's choice if not given.")] = None,
    opt_level: Annotated[Level, choice(Level, "How far the graph is rewritten.", "--opt-level")] = Level.ALL,
    device: DeviceOption = None,
    budget: Annotated[float, seconds("Time for timing; as much again for the profile.")] = 5.0,
    by: Annotated[ProfileBy | None, choice(ProfileBy, "What a row is; kernel if not given.", panel=ROWS)] = None,
    depth: DepthOption = None,
    top: TopOption = None,
    plot: PlotOption = None,
    trace: Annotated[Path | None, file_to_write("A trace for Perfetto or Chrome, to write.", panel=RESULT)] = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    quiet: QuietOption = False,
    _debug: DebugOption = False,
) -> None:
    """Run a model in ONNX Runtime: what it takes, kernel by kernel, against what it could."""
    rows = ProfileRows(by, depth, top, quiet)
    check_profile_rows(rows, form)
    check(output, Path(target), inputs)
    check(trace, Path(target), inputs, option="--trace")
    check_plot(plot, Path(target), inputs, others=(output, trace))
    if output is not None and output == trace:
        raise typer.BadParameter("--output and --trace are the same file.")
    on = device_of(device)
    sizes = Sizes(dims_of(dim), shapes_of(shape), trips_of(trips))
    say_warnings()
    with Progress(quiet=quiet) as progress:
        from neural_cost.runtime.inputs import load_inputs
        from neural_cost.runtime.profile import profile as run
        from neural_cost.runtime.this_machine import bounding_device

        arrays = None if inputs is None else load_inputs(inputs)
        found = run(
            _runnable(target, progress),
            sizes.dims,
            sizes.shapes,
            bounding_device(on, provider=provider, threads=threads),
            inputs=arrays,
            provider=provider,
            threads=threads,
            level=opt_level.value,
            budget_s=budget,
            trips=sizes.trips,
            progress=progress,
        )
    if trace is not None:
        from neural_cost.runtime.trace import chrome_trace

        write(json.dumps(chrome_trace(found)), trace, option="--trace")
    write_plot(found, plot)
    write(_text(found, form, rows, colour=colour_wanted(output)), output)
    if found.measurement.stopped_by == "interrupt":
        raise typer.Exit(INTERRUPTED)


def _runnable(target: str, progress: Progress) -> Path:
    """The file of a target that has weights."""
    if target.startswith(HF):
        from neural_cost.analyzer.errors import ExportError

        raise ExportError(f"{target} gives a graph without weights, which cannot be run: analyze it.")
    return onnx_file(target, progress)


def _text(found: Profile, form: Format, rows: ProfileRows, *, colour: bool) -> str:
    from neural_cost.analyzer.tables.profile import profile_page
    from neural_cost.analyzer.tables.profile_rows import COLUMNS, profile_rows
    from neural_cost.analyzer.tables.text import to_text

    if form is Format.JSON:
        return json.dumps(found.to_dict(), indent=1)
    by = rows.by or ProfileBy.KERNEL
    if form is Format.TABLE:
        page = profile_page(found, rows.top, by=by, depth=rows.depth, quiet=rows.quiet)
        return to_text(page, colour=colour)
    return delimited(form, profile_rows(found, by, rows.depth)[: rows.top], COLUMNS[by])

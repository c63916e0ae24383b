"""`neural-cost profile TARGET`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from neural_cost.analyzer.tables.view import ProfileBy
from neural_cost.commands.export import HELP as TARGETS
from neural_cost.options import (
    INTERRUPTED,
    DeviceOption,
    DimOption,
    ShapeOption,
    Sizes,
    TripsOption,
    choice,
    device_of,
    dims_of,
    shapes_of,
    trips_of,
)
from neural_cost.render.forms import DebugOption, Format, FormatOption, OutputOption, QuietOption, delimited
from neural_cost.render.output import check, colour_wanted, write
from neural_cost.render.plots.command import PlotOption, check_plot, write_plot
from neural_cost.render.progress import Progress, say_warnings
from neural_cost.targets import HF, onnx_file

if TYPE_CHECKING:
    from neural_cost.runtime.profile import Profile

LEVELS = ("disable", "basic", "extended", "all")


def profile(  # noqa: PLR0917 - typer turns each into an option
    target: Annotated[str, typer.Argument(help=f"An .onnx file, {TARGETS}")],
    dim: DimOption = None,
    shape: ShapeOption = None,
    trips: TripsOption = None,
    inputs: Annotated[Path | None, typer.Option(help="An .npz file of inputs, by name; else made up.")] = None,
    provider: Annotated[str, typer.Option(help="What it runs on: cpu, cuda, tensorrt, coreml...")] = "cpu",
    threads: Annotated[int | None, typer.Option(help="Threads of an operator; ONNX Runtime's choice.", min=1)] = None,
    opt_level: Annotated[str, typer.Option(help=f"How far the graph is rewritten: {', '.join(LEVELS)}.")] = "all",
    device: DeviceOption = None,
    budget: Annotated[float, typer.Option(help="Seconds for timing; as many again for the profile.", min=0)] = 5.0,
    trace: Annotated[
        Path | None, typer.Option(help="A trace for Perfetto or Chrome, to write.", readable=False)
    ] = None,
    plot: PlotOption = None,
    by: Annotated[ProfileBy, choice(ProfileBy, "What a row is.")] = ProfileBy.KERNEL,
    depth: Annotated[int | None, typer.Option(help="How deep into modules, with --by module.", min=1)] = None,
    top: Annotated[int | None, typer.Option(help="How many rows; 10 in a table, else all.", min=1)] = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    quiet: QuietOption = False,
    _debug: DebugOption = False,
) -> None:
    """Run a model in ONNX Runtime: what it takes, kernel by kernel, against what it could."""
    if opt_level not in LEVELS:
        raise typer.BadParameter(f'there is no --opt-level "{opt_level}": choose one of {", ".join(LEVELS)}.')
    if depth is not None and by is not ProfileBy.MODULE:
        raise typer.BadParameter("--depth needs --by module.")
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
            level=opt_level,
            budget_s=budget,
            trips=sizes.trips,
            progress=progress,
        )
    if trace is not None:
        from neural_cost.runtime.trace import chrome_trace

        write(json.dumps(chrome_trace(found)), trace, option="--trace")
    write_plot(found, plot)
    write(_text(found, form, Rows(by, depth, top, quiet), colour=colour_wanted(output)), output)
    if found.measurement.stopped_by == "interrupt":
        raise typer.Exit(INTERRUPTED)


def _runnable(target: str, progress: Progress) -> Path:
    """The file of a target that has weights."""
    if target.startswith(HF):
        from neural_cost.analyzer.errors import ExportError

        raise ExportError(f"{target} gives a graph without weights, which cannot be run: analyze it.")
    return onnx_file(target, progress)


class Rows(NamedTuple):
    """Which rows are shown."""

    by: ProfileBy
    depth: int | None
    top: int | None
    quiet: bool


def _text(found: Profile, form: Format, rows: Rows, *, colour: bool) -> str:
    from neural_cost.analyzer.tables.profile import profile_page
    from neural_cost.analyzer.tables.profile_rows import COLUMNS, profile_rows
    from neural_cost.analyzer.tables.text import to_text

    if form is Format.JSON:
        return json.dumps(found.to_dict(), indent=1)
    if form is Format.TABLE:
        page = profile_page(found, rows.top, by=rows.by, depth=rows.depth, quiet=rows.quiet)
        return to_text(page, colour=colour)
    return delimited(form, profile_rows(found, rows.by, rows.depth)[: rows.top], COLUMNS[rows.by])

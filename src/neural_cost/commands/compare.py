"""`neural-cost compare TARGET`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neural_cost.commands.ending import INTERRUPTED
from neural_cost.commands.options import (
    SAVED,
    DebugOption,
    FormatOption,
    OutputOption,
    QuietOption,
    file_to_read,
    seconds,
    target_argument,
    whole_number,
)
from neural_cost.commands.values import batches_of, dims_of
from neural_cost.render.forms import Format, delimited
from neural_cost.render.output import check, colour_wanted, write
from neural_cost.render.progress import Progress, say_warnings

if TYPE_CHECKING:
    from neural_cost.analyzer.comparison import Comparison


def compare(  # noqa: PLR0917 - typer turns each into an option
    target: Annotated[str, target_argument(f"An .onnx file, {SAVED} Or a saved comparison (.json), to show.")],
    backend: Annotated[
        list[str] | None, typer.Option(help="A backend; repeatable. If not given, all.", metavar="NAME")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="What the others are measured against; the first.", metavar="NAME")
    ] = None,
    dim: Annotated[list[str] | None, typer.Option(help="A dimension; repeatable.", metavar="NAME=SIZE")] = None,
    batch: Annotated[str | None, typer.Option(help="Further sizes of batch, for throughput.", metavar="1,8,32")] = None,
    threads: Annotated[int, whole_number("Threads that each backend gets.")] = 1,
    device: Annotated[str, typer.Option(help="What they run on: cpu or cuda.", metavar="NAME")] = "cpu",
    budget: Annotated[float, seconds("Time for all rounds.")] = 10.0,
    timeout: Annotated[float, seconds("Time that a backend may take to answer.", least=1)] = 300.0,
    against: Annotated[Path | None, file_to_read("A comparison saved before, by --format json --output.")] = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    quiet: QuietOption = False,
    _debug: DebugOption = False,
) -> None:
    """Time a model's own framework beside ONNX Runtime, each in a process of its own, in turns."""
    check(output, Path(target), against)
    before = None if against is None else read(against)
    if target.endswith(".json"):
        found = read(Path(target))
    else:
        from neural_cost.comparing import compare as run

        say_warnings()
        with Progress(quiet=quiet) as progress:
            found = run(
                target,
                backends=backend,
                reference=reference,
                dims=dims_of(dim),
                batches=batches_of(batch),
                threads=threads,
                device=device,
                budget_s=budget,
                timeout_s=timeout,
                progress=progress,
            )
    write(_text(found, before, form, quiet=quiet, colour=colour_wanted(output)), output)
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)
    if all(each.median_s is None for each in found.backends):
        raise typer.Exit(3)  # nothing ran: why stands in the result
    if any(each.within is False for each in found.backends):
        raise typer.Exit(1)


def read(file: Path) -> Comparison:
    """A comparison that was saved as JSON; exit code 2 where it is none."""
    from neural_cost.analyzer.comparison import Comparison

    try:
        return Comparison.from_dict(json.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be read ({error.strerror}).") from error
    except (ValueError, KeyError, TypeError) as error:
        raise typer.BadParameter(f"{file} is no comparison that was saved by --format json.") from error


def _text(found: Comparison, before: Comparison | None, form: Format, *, quiet: bool, colour: bool) -> str:
    from neural_cost.analyzer.comparison import COLUMNS
    from neural_cost.analyzer.tables.comparison import comparison_page, since
    from neural_cost.analyzer.tables.text import to_text

    if form is Format.JSON:
        return json.dumps(found.to_dict(), indent=1)
    if form is Format.TABLE:
        more = [] if before is None else since(found, before)
        return to_text([*comparison_page(found, quiet=quiet), *more], colour=colour)
    return delimited(form, found.rows(), COLUMNS)

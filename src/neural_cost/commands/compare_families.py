"""`neural-cost-compare`: the five families in every framework that is installed, as one table."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neural_cost.options import fail
from neural_cost.render.forms import Format, FormatOption, OutputOption, QuietOption, delimited
from neural_cost.render.output import check, colour_wanted, write
from neural_cost.render.progress import Progress

if TYPE_CHECKING:
    from neural_cost.analyzer.comparison import Comparison

FAMILIES = ("dnn", "cnn", "rnn", "lstm", "transformer")
FRAMEWORKS = {"torch": "torch", "keras": "tensorflow", "jax": "jax"}
COLUMNS = ("family", "framework", "native", "native_s", "onnxruntime_s", "ratio", "ratio_low", "ratio_high", "verdict",
           "max_abs_diff", "error")  # fmt: skip

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def compare_families(  # noqa: PLR0917 - typer turns each into an option
    threads: Annotated[int, typer.Option(help="That each backend gets.", min=1)] = 1,
    batch: Annotated[int, typer.Option(help="Examples in a run.", min=1)] = 16,
    budget: Annotated[float, typer.Option(help="Seconds for the rounds of one model.", min=0)] = 5.0,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    quiet: QuietOption = False,
) -> None:
    """Time five families in each framework that is installed, beside ONNX Runtime."""
    check(output)
    there = [name for name, package in FRAMEWORKS.items() if find_spec(package)]
    if not there:
        fail("no framework is installed: pip install 'neural-cost[torch]', for one.", 3)
    with Progress(quiet=quiet) as progress:
        found = [
            (family, framework, _compared(family, framework, progress, threads=threads, batch=batch, budget=budget))
            for framework in there
            for family in FAMILIES
        ]
    rows = [_row(family, framework, comparison) for family, framework, comparison in found]
    write(_text(rows, [each for _, _, each in found], form, colour=colour_wanted(output)), output)


def main() -> None:
    """Run the command."""
    from neural_cost.analyzer.errors import NeuralCostError

    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except NeuralCostError as error:
        fail(str(error), error.exit_code)


def _compared(
    family: str, framework: str, progress: Progress, *, threads: int, batch: int, budget: float
) -> Comparison:
    from neural_cost.comparing import compare
    from neural_cost.runtime.backends.registry import chosen

    native = [each.name for each in chosen(framework, None) if each.framework == framework]
    return compare(
        f"zoo:{family}@{framework}",
        backends=[*native, "onnxruntime all"],
        dims={"batch": batch},
        threads=threads,
        budget_s=budget,
        progress=lambda stage: progress(f"{family} in {framework}: {stage}"),
    )


def _row(family: str, framework: str, found: Comparison) -> dict[str, Any]:
    """The fastest native backend of a family beside ONNX Runtime: its time over theirs in the same rounds."""
    from neural_cost.analyzer.comparison import best_native

    return {"family": family, "framework": framework} | best_native(found, "onnxruntime all")


def _text(rows: list[dict[str, Any]], found: list[Comparison], form: Format, *, colour: bool) -> str:
    from neural_cost.analyzer.tables.comparison import families_page
    from neural_cost.analyzer.tables.text import to_text

    if form is Format.JSON:
        return json.dumps([each.to_dict() for each in found], indent=1)
    if form is Format.TABLE:
        return to_text(families_page(rows, found), colour=colour)
    return delimited(form, rows, COLUMNS)

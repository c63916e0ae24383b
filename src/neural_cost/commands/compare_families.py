"""`neural-cost-compare`: the five families in every framework that is installed, as one table."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from neural_cost.options import fail
from neural_cost.render.forms import Format, FormatOption, OutputOption, QuietOption, delimited
from neural_cost.render.output import check, colour_wanted, write
from neural_cost.render.progress import Progress

if TYPE_CHECKING:
    from neural_cost.analyzer.comparison import Comparison
    from neural_cost.analyzer.device import Device
    from neural_cost.analyzer.report import Report

FAMILIES = ("dnn", "cnn", "rnn", "lstm", "transformer")
FRAMEWORKS = {"torch": "torch", "keras": "tensorflow", "jax": "jax"}
COLUMNS = ("family", "framework", "native", "native_s", "onnxruntime_s", "ratio", "ratio_low", "ratio_high", "verdict",
           "max_abs_diff", "error")  # fmt: skip
OF_FLOOR = ("flops", "parameters", "io_bytes", "intensity", "floor_s", "limited_by", "native_efficiency",
            "onnxruntime_efficiency")  # fmt: skip
ORT = "onnxruntime all"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def compare_families(  # noqa: PLR0917 - typer turns each into an option
    threads: Annotated[int, typer.Option(help="That each backend gets.", min=1)] = 1,
    batch: Annotated[int, typer.Option(help="Examples in a run.", min=1)] = 16,
    budget: Annotated[float, typer.Option(help="Seconds for the rounds of one model.", min=0)] = 5.0,
    peak_flops: Annotated[float | None, typer.Option(help="FLOP/s of the device; by default of this CPU.")] = None,
    memory_bandwidth: Annotated[float | None, typer.Option(help="Bytes/s of its memory; the same.")] = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    quiet: QuietOption = False,
) -> None:
    """Time five families in each framework that is installed, beside ONNX Runtime and beside what the device could do.

    Bounds are of the device that --peak-flops and --memory-bandwidth describe; by default of this CPU, as it was
    calibrated, or as it is measured first.
    """
    check(output)
    there = [name for name, package in FRAMEWORKS.items() if find_spec(package)]
    if not there:
        fail("no framework is installed: pip install 'neural-cost[torch]', for one.", 3)
    with Progress(quiet=quiet) as progress:
        device = _device(peak_flops, memory_bandwidth, threads, progress)
        found = [
            _Family(
                family,
                framework,
                _compared(family, framework, progress, threads=threads, batch=batch, budget=budget),
                _report(family, framework, batch, device),
            )
            for framework in there
            for family in FAMILIES
        ]
    write(_text(found, device, form, colour=colour_wanted(output)), output)


class _Family(NamedTuple):
    """A family in a framework: its times, and what its export costs; None where there is none."""

    family: str
    framework: str
    comparison: Comparison
    report: Report | None

    def row(self) -> dict[str, Any]:
        """The fastest native backend beside ONNX Runtime: its time over theirs in the same rounds."""
        from neural_cost.analyzer.comparison import best_native

        return {"family": self.family, "framework": self.framework} | best_native(self.comparison, ORT)

    def rooflines(self) -> list[dict[str, Any]]:
        """The two of them beside what the device could do."""
        from neural_cost.family_rooflines import roofline_rows

        names = [name for name in (self.row()["native"], ORT) if name is not None]
        return roofline_rows(self.family, self.framework, self.comparison, self.report, names)

    def whole_row(self) -> dict[str, Any]:
        """Both in one row."""
        rows = {row["backend"]: row for row in self.rooflines()}
        either = next(iter(rows.values()), {})
        native, ort = (rows.get(name, {}).get("efficiency") for name in (self.row()["native"], ORT))
        known = {name: either.get(name) for name in OF_FLOOR}
        return self.row() | known | {"native_efficiency": native, "onnxruntime_efficiency": ort}


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
        backends=[*native, ORT],
        dims={"batch": batch},
        threads=threads,
        budget_s=budget,
        progress=lambda stage: progress(f"{family} in {framework}: {stage}"),
    )


def _device(peak: float | None, bandwidth: float | None, threads: int, tell: Progress) -> Device:
    """The device that was described, or this CPU with so many threads."""
    if peak is not None or bandwidth is not None:
        from neural_cost.hardware_spec import HardwareSpec

        return HardwareSpec("the given device", peak, bandwidth)
    from neural_cost.runtime.calibrate.quick import measured_device

    tell("measuring this CPU")
    return measured_device(threads)


def _report(family: str, framework: str, batch: int, device: Device) -> Report | None:
    """What the export of a family costs; None where it cannot be exported, which the comparison says."""
    from neural_cost.analyzer.analyze import analyze
    from neural_cost.analyzer.errors import ExportError
    from neural_cost.targets import onnx_file

    try:
        return analyze(onnx_file(f"zoo:{family}@{framework}"), {"batch": batch}, device=device)
    except ExportError:
        return None


def _text(found: list[_Family], device: Device, form: Format, *, colour: bool) -> str:
    from neural_cost.analyzer.tables.comparison import families_page
    from neural_cost.analyzer.tables.text import to_text
    from neural_cost.family_rooflines import hardware_page, rooflines_page

    if form is Format.JSON:
        return json.dumps([each.comparison.to_dict() | {"roofline": each.rooflines()} for each in found], indent=1)
    if form is Format.TABLE:
        page = families_page([each.row() for each in found], [each.comparison for each in found])
        rooflines = rooflines_page([row for family in FAMILIES for each in found if each.family == family
                                    for row in each.rooflines()])  # fmt: skip
        return to_text([*page, *hardware_page(device), *rooflines], colour=colour)
    return delimited(form, [each.whole_row() for each in found], (*COLUMNS, *OF_FLOOR))

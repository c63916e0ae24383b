"""`neural-cost-compare`: the five families in every framework that is installed, as one table."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from neural_cost.commands import ending
from neural_cost.commands.ending import INTERRUPTED, fail
from neural_cost.commands.options import (
    DebugOption,
    FormatOption,
    OutputOption,
    QuietOption,
    number,
    seconds,
    whole_number,
)
from neural_cost.render.forms import Format, delimited
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
    threads: Annotated[int, whole_number("Threads that each backend gets.")] = 1,
    batch: Annotated[int, whole_number("Examples in a run.")] = 16,
    budget: Annotated[float, seconds("Time for the rounds of one model.")] = 5.0,
    peak_flops: Annotated[float | None, number("FLOP/s of the device; by default of this CPU.")] = None,
    memory_bandwidth: Annotated[float | None, number("Bytes/s of its memory; by default of this CPU.")] = None,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    quiet: QuietOption = False,
    _debug: DebugOption = False,
) -> None:
    """Time five families in each framework that is installed, beside ONNX Runtime and beside what the device could do.

    Bounds are of the device that --peak-flops and --memory-bandwidth describe; by default of this CPU, as it was
    calibrated, or as it is measured first. A family that fails is told of, and the others are measured; so is what was
    measured before Ctrl-C. Exit codes: 1 where results differ, 3 where a family failed, 130 after Ctrl-C.
    """
    check(output)
    there = [name for name, package in FRAMEWORKS.items() if find_spec(package)]
    if not there:
        fail("no framework is installed: pip install 'neural-cost[torch]', for one.", 3)
    asked = _Asked(threads, batch, budget)
    with Progress(quiet=quiet) as progress:
        device = _device(peak_flops, memory_bandwidth, threads, progress)
        found, interrupted = _all([(family, name) for name in there for family in FAMILIES], asked, device, progress)
    if found:
        write(_text(found, device, form, colour=colour_wanted(output)), output)
    if code := _exit_code(found, interrupted=interrupted):
        raise typer.Exit(code)


class _Asked(NamedTuple):
    """What each comparison is asked for."""

    threads: int
    batch: int
    budget_s: float


class _Family(NamedTuple):
    """A family in a framework: its times, or why there are none; and what its export costs, if there is one."""

    family: str
    framework: str
    comparison: Comparison | None
    report: Report | None
    error: str | None = None

    @property
    def failed(self) -> bool:
        """Whether nothing of it ran."""
        return self.comparison is None or all(each.median_s is None for each in self.comparison.backends)

    def row(self) -> dict[str, Any]:
        """The fastest native backend beside ONNX Runtime: its time over theirs in the same rounds."""
        from neural_cost.analyzer.comparison import best_native

        names = {"family": self.family, "framework": self.framework}
        if self.comparison is None:
            return names | dict.fromkeys(COLUMNS[2:]) | {"verdict": "failed", "error": self.error}
        row = names | best_native(self.comparison, ORT)
        if self.comparison.interrupted:
            row["error"] = "; ".join(filter(None, [row["error"], "it was interrupted, and is not complete"]))
        return row

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the comparison with its rooflines, or the error."""
        names = {"family": self.family, "framework": self.framework}
        if self.comparison is None:
            return names | {"error": self.error}
        return names | self.comparison.to_dict() | {"roofline": self.rooflines()}

    def rooflines(self) -> list[dict[str, Any]]:
        """The two of them beside what the device could do."""
        from neural_cost.family_rooflines import roofline_rows

        if self.comparison is None:
            return []
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
    ending.run(app)


def _all(
    wanted: list[tuple[str, str]], asked: _Asked, device: Device, progress: Progress
) -> tuple[list[_Family], bool]:
    """Each family in each framework, and whether the user interrupted: what was measured until then is kept."""
    found: list[_Family] = []
    try:
        for family, framework in wanted:
            found.append(_one(family, framework, progress, asked))
            if found[-1].comparison is not None and found[-1].comparison.interrupted:
                return found, True
            found[-1] = found[-1]._replace(report=_report(family, framework, asked.batch, device))
    except KeyboardInterrupt:
        return found, True
    return found, False


def _one(family: str, framework: str, progress: Progress, asked: _Asked) -> _Family:
    try:
        return _Family(family, framework, _compared(family, framework, progress, asked), None)
    except Exception as error:  # whatever a framework raises: the others are measured
        return _Family(family, framework, None, None, str(error) or type(error).__name__)


def _exit_code(found: list[_Family], *, interrupted: bool) -> int:
    if interrupted:
        return INTERRUPTED
    if any(each.failed for each in found):
        return 3
    results = [result for each in found if each.comparison is not None for result in each.comparison.backends]
    return 1 if any(result.within is False for result in results) else 0


def _compared(family: str, framework: str, progress: Progress, asked: _Asked) -> Comparison:
    from neural_cost.comparing import compare
    from neural_cost.runtime.backends.registry import chosen

    native = [each.name for each in chosen(framework, None) if each.framework == framework]
    return compare(
        f"zoo:{family}@{framework}",
        backends=[*native, ORT],
        dims={"batch": asked.batch},
        threads=asked.threads,
        budget_s=asked.budget_s,
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
    """What the export of a family costs; None where there is none, which the comparison says."""
    from neural_cost.analyzer.analyze import analyze
    from neural_cost.analyzer.errors import NeuralCostError
    from neural_cost.targets import onnx_file

    try:
        return analyze(onnx_file(f"zoo:{family}@{framework}"), {"batch": batch}, device=device)
    except NeuralCostError:
        return None


def _text(found: list[_Family], device: Device, form: Format, *, colour: bool) -> str:
    from neural_cost.analyzer.tables.families import families_page
    from neural_cost.analyzer.tables.text import to_text
    from neural_cost.family_rooflines import hardware_page, rooflines_page

    if form is Format.JSON:
        return json.dumps([each.to_dict() for each in found], indent=1)
    if form is Format.TABLE:
        ran = [each.comparison for each in found if each.comparison is not None]
        page = families_page([each.row() for each in found], ran)
        rooflines = rooflines_page([row for family in FAMILIES for each in found if each.family == family
                                    for row in each.rooflines()])  # fmt: skip
        return to_text([*page, *hardware_page(device), *rooflines], colour=colour)
    return delimited(form, [each.whole_row() for each in found], (*COLUMNS, *OF_FLOOR))

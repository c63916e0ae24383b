"""Bounds, gap and prediction against runs, on many models: `python -m benchmarks.validate --output VALIDATION.md`.

The machine is calibrated, kernels too; every model is run, in rounds, so that none meets the machine in one mood alone;
the machine is calibrated again. A model's time is the lowest of the medians of its rounds: the others were disturbed by
what else ran. The prediction knows the first calibration and the file, and nothing of any run.

What was measured is kept in a folder, run by run: a stopped run goes on where it was. `--fresh` measures all anew.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import neural_cost
from benchmarks.validation_models import Subject, subjects
from benchmarks.validation_report import Row, page
from neural_cost.analyzer.calibration import Calibration
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.errors import NeuralCostError
from neural_cost.runtime.calibrate.calibrate import calibrate
from neural_cost.runtime.calibrate.kernels.measure import kernel_rates

FOLDER = Path("build/validation")
ROUNDS = 3
BUDGET_S = 1.0  # of each run, and of the one with a profile


@dataclass(frozen=True)
class Run:
    """One round of a model, in seconds.

    Attributes:
        fastest: the shortest run; `median` the middle one.
        floor, fused: the bounds; of the fusion groups that ran.
        violated: what kernels took less than their bounds, as a part of the time.
        explained: part of the time that has a floor or a cause with a name.
    """

    fastest: float
    median: float
    floor: float | None
    fused: float | None
    violated: float
    explained: float | None


def main() -> None:
    """Measure, predict, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where models and measurements are kept")
    parser.add_argument("--output", type=Path, help="the page; stdout if not given")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", help="models whose name holds this")
    parser.add_argument("--fresh", action="store_true", help="measure again what was measured before")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.fresh:
        for file in given.folder.glob("*.json"):
            file.unlink()
    chosen = [each for each in subjects(given.folder) if not given.only or given.only in each.name]
    ready = list(_made(chosen))
    before = _calibration(given.folder / "before.json", kernels=True)
    for number in range(given.rounds):
        for subject in ready:
            for threads in given.threads:
                _run(given.folder, subject, threads, number, before.device(threads))
    after = _calibration(given.folder / "after.json", kernels=False)
    found = {threads: list(_rows(given.folder, ready, threads, given.rounds, before)) for threads in given.threads}
    text = page(found, before, after, given.rounds, missing=len(chosen) - len(ready))
    if given.output is None:
        print(text)
    else:
        given.output.write_text(text, encoding="utf-8")


def _made(chosen: Sequence[Subject]) -> Iterator[Subject]:
    """Export or fetch each; one that cannot be had is left out, and said to be."""
    for subject in chosen:
        try:
            subject.make()
        except (NeuralCostError, ImportError, OSError) as error:
            _tell(f"{subject.name} is left out: {error}")
            continue
        yield subject


def _calibration(file: Path, *, kernels: bool) -> Calibration:
    if not file.exists():
        found = calibrate(progress=_tell)
        found = replace(found, kernels=kernel_rates(progress=_tell)) if kernels else found
        file.write_text(json.dumps(found.to_dict()), encoding="utf-8")
    return Calibration.from_dict(json.loads(file.read_text(encoding="utf-8")))


def _run(folder: Path, subject: Subject, threads: int, number: int, device: Device) -> None:
    file = _file(folder, subject, threads, number)
    if file.exists():
        return
    _tell(f"round {number + 1}, {threads} threads: {subject.name}")
    try:
        found = neural_cost.profile(subject.make(), subject.dims, device=device, threads=threads, budget_s=BUDGET_S)
    except NeuralCostError as error:
        _tell(f"{subject.name} does not run: {error}")
        return
    took, gap, bound = found.measurement, found.gap, found.bound
    violated = sum(cause.seconds for cause in gap.causes if cause.cause == "bound violated") if gap else 0.0
    run = Run(
        fastest=took.min_s,
        median=took.median_s,
        floor=None if bound is None else bound.floor_s,
        fused=None if bound is None else bound.fused_s,
        violated=abs(violated) / took.median_s,
        explained=None if gap is None else gap.explained_share,
    )
    file.write_text(json.dumps(asdict(run)), encoding="utf-8")


def _rows(folder: Path, ready: Sequence[Subject], threads: int, rounds: int, calibration: Calibration) -> Iterator[Row]:
    """A row of each model that ran."""
    device = calibration.device(threads)
    for subject in ready:
        files = [file for number in range(rounds) if (file := _file(folder, subject, threads, number)).exists()]
        runs = [Run(**json.loads(file.read_text(encoding="utf-8"))) for file in files]
        if not runs:
            continue
        best = min(runs, key=lambda run: run.median)
        report = neural_cost.analyze(subject.make(), subject.dims, device=device)
        predicted = report.prediction
        yield Row(
            name=subject.name,
            group=subject.group,
            half=subject.half,
            measured=best.median,
            fastest=min(run.fastest for run in runs),
            spread=max(run.median for run in runs) / best.median - 1,
            floor=best.floor,
            fused=best.fused,
            violated=best.violated,
            explained=best.explained,
            predicted=predicted.seconds if predicted.complete else None,
            expected=predicted.expected_error,
        )


def _file(folder: Path, subject: Subject, threads: int, number: int) -> Path:
    name = "".join(character if character.isalnum() else "_" for character in subject.name)
    return folder / f"{name}.{threads}.{number}.json"


def _tell(stage: Any) -> None:
    print(stage, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

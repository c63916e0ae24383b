"""VALIDATION.md: what was measured and predicted, the two halves of the models apart."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median

import pandas as pd

from benchmarks.validation_models import HISTORY
from neural_cost.analyzer.calibration import Calibration
from neural_cost.analyzer.tables.figures import seconds

TARGET = 0.15
HALVES = {"looked at": "looked at while the prediction was built", "held out": "held out: only ever run as a whole"}


@dataclass(frozen=True)
class Row:
    """A model: what a run took in seconds, its bounds, and what was predicted; parts are of the measured time.

    Attributes:
        measured: the lowest of the medians of all rounds; `fastest` the shortest run of all.
        spread: how far the highest median lay above the lowest.
        violated: what kernels took less than their bounds.
        explained: what has a floor or a cause with a name.
        expected: the error that the prediction gives itself.
    """

    name: str
    group: str
    half: str
    measured: float
    fastest: float
    spread: float
    floor: float | None
    fused: float | None
    violated: float
    explained: float | None
    predicted: float | None
    expected: float | None

    @property
    def error(self) -> float | None:
        """Predicted against measured."""
        return None if self.predicted is None else self.predicted / self.measured - 1

    @property
    def broken(self) -> list[str]:
        """Bounds that a run was faster than."""
        named = {"floor": self.floor, "fused": self.fused}
        return [name for name, bound in named.items() if bound is not None and self.fastest < bound]


def page(found: Mapping[int, Sequence[Row]], before: Calibration, after: Calibration, rounds: int, missing: int) -> str:
    """All of it as Markdown."""
    parts = [*_head(found, before, after, rounds, missing)]
    for threads, rows in found.items():
        parts += ["", f"## {threads} thread{'s' if threads > 1 else ''}", "", *_summary(rows)]
        for half in HALVES:
            parts += ["", f"### {half.capitalize()}, {threads} thread{'s' if threads > 1 else ''}", ""]
            parts += _table([row for row in rows if row.half == half])
    return "\n".join(parts) + "\n"


def _head(
    found: Mapping[int, Sequence[Row]], before: Calibration, after: Calibration, rounds: int, missing: int
) -> Iterator[str]:
    first, second = (each.device(1).peaks.get("float32", 0.0) for each in (before, after))
    models = max((len(rows) for rows in found.values()), default=0)
    yield "# Validation: bounds, gap and prediction against runs"
    yield ""
    yield (
        f"Written by `python -m benchmarks.validate` on {before.date[:10]}: {models} models, {rounds} rounds, on "
        f"{before.machine.get('model', platform.machine())}, {platform.system()}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("onnxruntime", "onnx", "numpy"))
        + "."
    )
    if missing:
        yield f"{missing} models could not be had here, and are left out."
    yield ""
    yield (
        "A model's time is the lowest of the medians of its rounds. The prediction knows the file and a calibration of "
        "single kernels (`hardware --calibrate --kernels`), made before any model ran; nothing in it is fitted to a "
        "model. The two halves were chosen and written down (`benchmarks/validation_models.py`) before any model was "
        "predicted."
    )
    yield ""
    yield HISTORY
    yield ""
    change = second / first - 1 if first else 0.0
    noisy = "; **more than 10 %: the machine changed**" if abs(change) > 0.1 else ""
    yield (
        f"Calibrated before and after: the float32 peak of one thread was {first / 1e9:.1f} and {second / 1e9:.1f} "
        f"GFLOP/s ({change:+.1%}){noisy}."
    )
    for note in dict.fromkeys(
        (*before.doubts, *before.notes, *after.doubts, *after.notes, *(before.kernels.notes if before.kernels else ()))
    ):
        yield f"- {note}"


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    yield from _headings("", "models", "median absolute error", f"within {TARGET:.0%}", "worst", "rank correlation",
                         "bounds violated", "explained, median")  # fmt: skip
    for half, what in HALVES.items():
        yield _summed(what, [row for row in rows if row.half == half])
    yield _summed("all", rows)
    worst = max((row.violated for row in rows), default=0.0)
    yield ""
    yield (
        f"Target: a median absolute error of {TARGET:.0%} at most on models held out, no bound violated. Single "
        f"kernels that were faster than their own bounds make up {worst:.1%} of a run at most."
    )


def _summed(what: str, rows: Sequence[Row]) -> str:
    errors = [abs(row.error) for row in rows if row.error is not None]
    if not errors:
        return f"| {what} | {len(rows)} | | | | | | |"
    explained = [row.explained for row in rows if row.explained is not None]
    within = sum(error <= TARGET for error in errors)
    return (
        f"| {what} | {len(rows)} | {median(errors):.1%} | {within} of {len(errors)} | {max(errors):.1%} "
        f"| {rank_correlation(rows):.4f} | {sum(bool(row.broken) for row in rows)} "
        f"| {median(explained):.1%} |"
    )


def rank_correlation(rows: Sequence[Row]) -> float:
    """Spearman's, of predicted and measured times."""
    pairs = pd.DataFrame([(row.predicted, row.measured) for row in rows if row.predicted is not None])
    return float(pairs.rank().corr().iloc[0, 1]) if len(pairs) > 1 else float("nan")


def _headings(*names: str) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield "|" + "---|" * len(names)


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield from _headings("model", "group", "measured", "rounds differ by", "floor", "fused bound", "predicted", "error",
                         "expected", "explained")  # fmt: skip
    for row in rows:
        error = "incomplete" if row.error is None else f"{row.error:+.1%}"
        expected = "" if row.expected is None else f"{row.expected:.0%}"
        explained = "" if row.explained is None else f"{row.explained:.1%}"
        broken = f" **{', '.join(row.broken)} violated**" if row.broken else ""
        yield (
            f"| {row.name} | {row.group} | {seconds(row.measured)} | {row.spread:.0%} | {seconds(row.floor)} "
            f"| {seconds(row.fused)}{broken} | {seconds(row.predicted)} | {error} | {expected} | {explained} |"
        )

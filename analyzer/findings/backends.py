"""A comparison in which another backend is faster than ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator

from neural_cost.analyzer.comparison import BackendResult, Comparison, ratios, verdict_of
from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.intervals import median_interval
from neural_cost.analyzer.tables.figures import plain, seconds


def faster_backend(comparison: Comparison) -> Iterator[Finding]:
    """The native backend that is faster than ONNX Runtime at its fastest level, where that is beyond doubt."""
    timed = [each for each in comparison.backends if each.median_s is not None and each.error is None]
    runtime = [each for each in timed if each.framework == "onnx"]
    native = [each for each in timed if each.framework != "onnx"]
    if not runtime or not native:
        return
    ours, theirs = min(runtime, key=_median), min(native, key=_median)
    paired = ratios(theirs.samples, ours.samples)
    ratio = median_interval(paired) if paired else None
    if ratio is None or verdict_of(ratio) != "faster":
        return
    yield Finding(
        id="native-faster",
        nodes=(),
        evidence=f"{theirs.name} takes {seconds(theirs.median_s)} and {ours.name} {seconds(ours.median_s)}: "
        f"{plain(ratio[0])} to {plain(ratio[1])} times as long (95 %)",
        saves_at_most_s=_median(ours) - _median(theirs),
        advice=f"run it in {theirs.name} where the framework may be there, or see with profile which kernels are slow",
        predicted=False,
    )


def _median(result: BackendResult) -> float:
    assert result.median_s is not None
    return result.median_s

"""A batch too small to give a device enough arithmetic for the bytes that it moves."""

from __future__ import annotations

from collections.abc import Iterator

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.errors import NeuralCostError
from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.records import Totals
from neural_cost.analyzer.roofline import Work, kernel_bound
from neural_cost.analyzer.tables.figures import seconds

SHARE = 0.05  # of the whole time
LARGEST = 1 << 16
NAMES = ("batch", "batch_size", "n", "N", "bs")


def small_batch(subject: Subject) -> Iterator[Finding]:
    """The floor is of bytes; with a larger batch it is of arithmetic."""
    bound, dim = subject.bound, _batch_dim(subject)
    if bound is None or subject.device is None or dim is None or bound.limited_by != "memory":
        return
    if any(node.source.integer_type for node in subject.nodes):  # totals do not tell which FLOPs those are
        return
    compute, memory = bound.compute_s or 0.0, bound.memory_s or 0.0
    whole = subject.gap.measured_s if subject.gap is not None else memory
    saves = whole - compute
    now = subject.report.model.dims[dim]
    crossing = _crossing(subject, dim, now)
    if crossing is None or not subject.matters(saves, SHARE):
        return
    yield subject.finding(
        "small-batch",
        (),
        f"at {dim} = {now} the bytes take {seconds(memory)} and the arithmetic {seconds(compute)}; from {dim} = "
        f"{crossing} on the arithmetic takes longer",
        saves,
        f"run {crossing} or more at once, where latency allows: the bytes of the weights are then shared; the "
        "saving is for as many as are run now",
    )


def _batch_dim(subject: Subject) -> str | None:
    """The dimension that is the first of every input that has one: open in the file, and called as batches are."""
    declared = subject.report.opened.inference.binding.declared
    firsts = {shape[0] for shape in declared.values() if shape}
    named = [dim for dim in firsts if isinstance(dim, str) and dim in subject.report.model.dims]
    if len(named) == 1 and (len(firsts) == 1 or named[0] in NAMES):
        return named[0]
    return next((dim for dim in named if dim in NAMES), None)


def _crossing(subject: Subject, dim: str, now: int) -> int | None:
    """The least size at which arithmetic takes as long as the compulsory bytes; None where none does.

    Doubled until it does, then halved between: with formulas each step takes microseconds, and without an analysis.
    """
    assert subject.device is not None
    low, high = now, 2 * now
    try:
        while not _computes(subject.report.at({dim: high}), subject.device):
            low, high = high, 2 * high
            if high > LARGEST:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            if _computes(subject.report.at({dim: middle}), subject.device):
                high = middle
            else:
                low = middle
    except NeuralCostError:  # sizes that the graph does not take
        return None
    return high


def _computes(totals: Totals, device: Device) -> bool:
    moved = totals.compulsory_bytes
    if moved is None:
        return False
    return kernel_bound(Work(totals.flops_by_type, moved), device).limited_by == "compute"

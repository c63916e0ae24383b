"""Predict: the time of a run as the sum of its kernels, each as long as kernels like it took by themselves.

Nothing in it was fitted to a model: times come from `runtime/calibrate/kernels`, which times single operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from neural_cost.analyzer.bounding import report_bound
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.errors import DeviceError
from neural_cost.analyzer.fusion.graph import FusionGraph, Group
from neural_cost.analyzer.fusion.groups import fusion_graph, fusion_groups
from neural_cost.analyzer.kernel_rates import KernelTable
from neural_cost.analyzer.prediction.kinds import KINDS, pieces
from neural_cost.analyzer.prediction.layout import Layout
from neural_cost.analyzer.prediction.piece import Job, Piece
from neural_cost.analyzer.prediction.record import PredictedKernel, Prediction
from neural_cost.analyzer.report import Report
from neural_cost.analyzer.tables.figures import seconds

MOST_NAMED = 5  # operators in a note
# Expected error of a kernel's time by how it was found, as a part of it: "timed" from the models that were looked at
# while this was built (VALIDATION.md), the others by judgement.
ERRORS = {"timed": 0.15, "far": 0.5, "guess": 1.0}


def predict(report: Report, device: Device | None = None) -> Prediction:
    """Predict how long a run of a report's model takes on a machine whose kernels were timed.

    Args:
        report: what was analyzed.
        device: by default that of the report.

    Raises:
        DeviceError: there is no device, or its kernels were not timed.
    """
    on = device or report.opened.device
    table = None if on is None else on.kernels
    if on is None or table is None:
        name = "this machine" if on is None else on.name
        raise DeviceError(
            f"{name}: its kernels were not timed, so there is nothing to predict from; run `neural-cost hardware "
            "--calibrate --kernels` on the machine that the model is to run on, and leave --device out."
        )
    graph = fusion_graph(report, table.nchwc_block)
    kernels = list(_kernels(graph, table))
    cold = _cold_seconds(report, table)
    complete = all(kernel.seconds is not None for kernel in kernels)
    timed = sum(kernel.seconds or 0.0 for kernel in kernels)
    whole = timed + cold + table.run_s
    return Prediction(
        device=on.name,
        threads=table.threads,
        date=table.date,
        seconds=whole,
        complete=complete,
        expected_error=_error(kernels, timed) if complete else None,
        start_s=table.run_s,
        cold_s=cold,
        kernels=kernels,
        notes=(
            *_threads(table),
            *_untimed(kernels, table),
            *_notes(kernels),
            *_strangers(kernels),
            *(_below(report, on, whole) if complete else ()),
        ),
    )


def _kernels(graph: FusionGraph, table: KernelTable) -> Iterator[PredictedKernel]:
    """Those of all groups, each after the reorders that it needs."""
    groups = fusion_groups(graph)
    layout = Layout.of(graph, groups)
    before: dict[int, list[Piece]] = {}
    for reorder in layout.reorders:
        before.setdefault(reorder.before, []).append(reorder.piece)
    for place, group in enumerate([*groups, None]):
        for piece in before.get(place, ()):
            yield _timed(piece.kind, (), [piece], table, 1)
        if group is not None and not _is_left_out(graph, group):
            job = Job(graph, group, place in layout.packed, table.nchwc_block)
            repeats = graph.nodes[group.anchor].repeats
            name = group.kernel or graph.op(group.anchor)
            yield _timed(name, group.places, pieces(job), table, None if repeats is None else int(repeats))


def _is_left_out(graph: FusionGraph, group: Group) -> bool:
    """Whether the runtime leaves out all of it."""
    return all(place in graph.dropped for place in group.places)


def _timed(
    name: str, places: tuple[int, ...], found: Sequence[Piece] | None, table: KernelTable, repeats: int | None
) -> PredictedKernel:
    """The time of a kernel that is made of these pieces."""
    took, how = 0.0, "timed"
    known = found is not None and repeats is not None
    for piece in found or ():
        timed = table.seconds(piece.kind, piece.sizes)
        if timed is None:
            known = False
            continue
        took += piece.times * timed.seconds
        how = "guess" if piece.guess or how == "guess" else "far" if timed.far or how == "far" else "timed"
    return PredictedKernel(
        op_type=name,
        source_nodes=places,
        seconds=took * (repeats or 0) if known else None,
        kinds=tuple(piece.kind for piece in found or ()),
        how=how,
    )


def _cold_seconds(report: Report, table: KernelTable) -> float:
    """What weights cost that do not stay in the caches: those of kernels were there when these were timed."""
    weights, peak = report.totals.parameter_bytes, report.totals.activation_peak_bytes or 0
    beyond = max(0, weights + peak - table.cache_bytes)
    return min(weights, beyond) * table.cold_s


def _error(kernels: Iterable[PredictedKernel], seconds: float) -> float:
    """The expected error of all, each kernel's by its part of the time."""
    return (
        sum(ERRORS[kernel.how] * (kernel.seconds or 0.0) for kernel in kernels) / seconds
        if seconds
        else ERRORS["timed"]
    )


def _below(report: Report, device: Device, predicted: float) -> Iterator[str]:
    """Say so where the prediction is less than what the same machine was found not to beat."""
    floor = report_bound(report, device).floor_s
    if floor is not None and predicted < floor:
        yield f"this is less than the bound of {seconds(floor)}: one of the two was measured badly; calibrate again"


def _threads(table: KernelTable) -> Iterator[str]:
    if table.asked not in (None, table.threads):
        yield (
            f"kernels were timed with {table.threads} threads and not with {table.asked}, which were asked for: this "
            f"is the time with {table.threads}"
        )


def _strangers(kernels: Sequence[PredictedKernel]) -> Iterator[str]:
    """Operators that nothing timed resembles: their part of the time may be too small to widen the expected error."""
    found = sorted({kernel.op_type for kernel in kernels if kernel.how == "guess" and _is_stranger(kernel)})
    if found:
        yield (
            f"{_some(found)}: nothing like it was timed; its bytes and products are taken as "
            "fast as those of an Add and a MatMul, and it can take many times as long"
        )


def _untimed(kernels: Iterable[PredictedKernel], table: KernelTable) -> Iterator[str]:
    """Kinds that this calibration lacks: an older program made it, or ONNX Runtime has them not here."""
    found = sorted({kind for kernel in kernels for kind in kernel.kinds} - set(table.curves))
    if found:
        yield (
            f"the calibration of {table.date[:10]} did not time {_some(found)}: `neural-cost "
            "hardware --calibrate --kernels` does, where ONNX Runtime can run it"
        )


def _some(names: Sequence[str]) -> str:
    """The first of them."""
    return ", ".join([*names[:MOST_NAMED], *(["..."] if len(names) > MOST_NAMED else [])])


def _is_stranger(kernel: PredictedKernel) -> bool:
    return kernel.op_type.split("::")[-1] not in KINDS


def _notes(kernels: Sequence[PredictedKernel]) -> Iterator[str]:
    unknown = sum(kernel.seconds is None for kernel in kernels)
    if unknown:
        yield f"{unknown} kernels are left out, as their cost, or how often they run, is not known"
    guessed = sum(kernel.seconds or 0.0 for kernel in kernels if kernel.how == "guess")
    total = sum(kernel.seconds or 0.0 for kernel in kernels)
    if total and guessed > total / 10:
        yield f"{guessed / total:.0%} of the time is of operators that were not timed; others like them stand for them"

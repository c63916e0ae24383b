"""Profile: run a model in ONNX Runtime, and say of every kernel which nodes of the file it does and how well."""

from __future__ import annotations

import math
import os
import tempfile
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from neural_cost.analyzer.analyze import analyze
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.findings.find import find
from neural_cost.analyzer.gap.analyze import analyze_gap
from neural_cost.analyzer.kernel_work import kernel_work, needed_outside, read_outside
from neural_cost.analyzer.measurement import Kernel, Measurement, mapping
from neural_cost.analyzer.profiled import Profiled
from neural_cost.analyzer.report import Report
from neural_cost.analyzer.roofline import Bound, Work, kernel_bound
from neural_cost.runtime.detect import detect_cpu
from neural_cost.runtime.feeds import check_declared, make_feeds, shapes_of
from neural_cost.runtime.free_memory import foreseen
from neural_cost.runtime.inputs import Array
from neural_cost.runtime.mapping.claim import Claim
from neural_cost.runtime.mapping.claimed import by_event, claimed
from neural_cost.runtime.named_copy import with_names
from neural_cost.runtime.profile_events import Event, Executed, read_profile
from neural_cost.runtime.profile_events import Profile as Events
from neural_cost.runtime.profiled_run import ProfiledRun, profiled_run
from neural_cost.runtime.providers import APART, BLOCKING, CPU
from neural_cost.runtime.session import Session, SessionOptions, call, elsewhere, open_session
from neural_cost.runtime.this_machine import bounding_device
from neural_cost.runtime.timing import Timing, benchmark
from neural_cost.runtime.written_out import written_out

if TYPE_CHECKING:
    pass

WARMUP = 3
LEAST_PROFILED, MOST_PROFILED = 5, 50


@dataclass(frozen=True, slots=True)
class Profile(Profiled):
    """A report, and what a run of its model took.

    Attributes:
        timing: every sample.
        events: ONNX Runtime's own, of the last run.
    """

    timing: Timing = field(repr=False)
    events: Sequence[Event] = field(repr=False)


def profile(
    path: str | os.PathLike[str],
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    device: str | Device | None = None,
    *,
    inputs: Mapping[str, Array] | None = None,
    provider: str = "cpu",
    threads: int | None = None,
    level: str = "all",
    budget_s: float = 5.0,
    trips: Mapping[str, int] | None = None,
    progress: Callable[[str], object] | None = None,
) -> Profile:
    """Analyze an ONNX file, run it in ONNX Runtime, and join the two.

    The time of a run comes from a session without a profile; those of its kernels from another one with a profile,
    as profiling costs time itself.

    Args:
        path: an .onnx file.
        dims, shapes, trips, progress: as of `analyze`.
        device: whose bounds the run is compared with; by default this CPU, where the model runs on it.
        inputs: arrays by name; their shapes are those of the analysis. What is missing is made up.
        provider: "cpu", "cuda"..., or ONNX Runtime's own name.
        threads: of one operator; by default as many as ONNX Runtime takes.
        level: how far the graph is rewritten: "disable", "basic", "extended" or "all".
        budget_s: seconds for timing without a profile, and about as many for timing with it.

    Warns:
        ResourceWarning: weights and activations need more memory than is free.

    Raises:
        ModelError, DimensionError, DeviceError: as of `analyze`.
        BackendError: the provider is not there, an input does not fit, or the model does not run.
    """
    tell = progress or (lambda stage: None)
    sizes = {**(shapes or {}), **shapes_of(inputs or {})}
    on = bounding_device(None, provider=provider, threads=threads) if device is None else device
    report = analyze(path, dims, sizes, on, trips=trips, progress=tell)
    if (warning := foreseen(report, provider)) is not None:
        warnings.warn(warning, ResourceWarning, stacklevel=2)
    options = SessionOptions(provider=provider, threads=threads, level=level)
    feeds = make_feeds(report, inputs)
    file = Path(path)
    model: Path | bytes = with_names(file) or file
    folder = file.resolve().parent if isinstance(model, bytes) else None
    tell("running")
    session = open_session(model, options, name=file, folder=folder)
    check_declared({each.name: each.shape for each in session.handle.get_inputs()}, feeds, file)
    run = session.runner(feeds)
    timing = call(str(file), lambda: benchmark(run, warmup=WARMUP, budget_s=budget_s))
    with tempfile.TemporaryDirectory() as scratch:
        tell("profiling")
        copy = written_out(file, options) if report.opened.inference.engine.model.has_functions else None
        where = folder if copy is None else file.resolve().parent
        events, graph, whole = _profiled(copy or model, options, where, feeds, Path(scratch), timing, budget_s)
    if not whole:
        timing = replace(timing, stopped_by="interrupt")
    kernels = _kernels(report, events, claimed(report, graph, copy or model))
    measurement = _measurement(session, options, timing, events, feeds)
    gap = None if report.opened.device is None else analyze_gap(report, measurement, kernels=kernels)
    return Profile(
        report,
        measurement,
        kernels,
        mapping(kernels, report.totals.macs if report.totals.complete else None),
        _bound(report, kernels),
        gap,
        find(report, gap, kernels, measurement),
        timing,
        events.events,
    )


def _profiled(  # noqa: PLR0917
    model: Path | bytes,
    options: SessionOptions,
    folder: Path | None,
    feeds: Mapping[str, Array],
    scratch: Path,
    timing: Timing,
    budget_s: float,
) -> tuple[Events, onnx.GraphProto | None, bool]:
    """What ran, the graph of it where there is one, and whether it ran as often as it should."""
    runs = WARMUP + max(LEAST_PROFILED, min(MOST_PROFILED, int(budget_s / max(timing.median_s, 1e-6))))
    order = ProfiledRun(
        model=model, options=options, folder=folder, feeds=feeds, scratch=scratch, warmup=WARMUP, runs=runs
    )
    file, whole = profiled_run(order)
    events = read_profile(file, WARMUP)
    graph = onnx.load(order.optimized, load_external_data=False).graph if order.optimized.exists() else None
    return events, graph, whole


def _kernels(report: Report, events: Events, claims: Sequence[Claim]) -> list[Kernel]:
    """Kernels that ran, each with the nodes that it does; without the graph that ran, no one knows which."""
    by_name = by_event(claims, events.kernels)
    readers = needed_outside(report.nodes, report.opened.returned)
    helped = {claim.joins for claim in claims if claim.joins is not None}
    return [_kernel(report, ran, by_name.get(ran.name), readers, helped) for ran in events.kernels]


def _kernel(
    report: Report, ran: Executed, claim: Claim | None, readers: Mapping[str, set[int]], helped: Container[Claim]
) -> Kernel:
    places = () if claim is None else tuple(claim.places)
    joined = claim is not None and claim.joined
    work = None if claim is None or not places or joined else _work(report, claim, readers)
    device = report.opened.device
    bound = None if work is None or device is None else kernel_bound(work, device).seconds
    return Kernel(
        name=ran.name,
        op_type=ran.op_type,
        domain="" if claim is None else claim.node.domain,
        graph="" if claim is None else claim.graph,
        provider=ran.provider,
        seconds=ran.seconds,
        executions=ran.executions,
        source_nodes=places,
        repeated=() if claim is None else tuple(sorted(claim.twins)),
        joined=joined,
        helped=claim in helped,
        inserted=claim is not None and claim.inserted,
        serves=() if claim is None else tuple(claim.serves),
        macs=None if claim is None else 0 if joined else _macs(report, places),
        work=work,
        bound_s=None if bound is None else bound * ran.executions,
    )


def _work(report: Report, claim: Claim, readers: Mapping[str, set[int]]) -> Work | None:
    once = [report.nodes[place] for place in claim.places if place not in claim.twins]
    return kernel_work(once, read_outside(once, set(claim.places), readers))


def _macs(report: Report, places: Sequence[int]) -> int | None:
    known = [(report.nodes[place].macs, report.nodes[place].repeats) for place in places]
    if any(macs is None or repeats is None for macs, repeats in known):
        return None
    return sum((macs or 0) * (repeats or 0) for macs, repeats in known)


def _bound(report: Report, kernels: Sequence[Kernel]) -> Bound | None:
    """The report's bound, with the fusion groups that ran."""
    if not report.bounds:
        return None
    found = report.bounds[0]
    known = [kernel.bound_s for kernel in kernels if kernel.bound_s is not None]
    if not known or found.floor_s is None:
        return found
    fused = max(sum(known), found.floor_s)
    return replace(found, fused_s=fused, per_op_s=None if found.per_op_s is None else max(fused, found.per_op_s))


def _measurement(
    session: Session, options: SessionOptions, timing: Timing, events: Events, feeds: Mapping[str, Array]
) -> Measurement:
    import onnxruntime

    inputs = sum(array.nbytes for array in feeds.values())
    return Measurement(
        backend="onnxruntime",
        version=onnxruntime.__version__,
        provider=session.handle.get_providers()[0],
        threads=options.threads,
        cores=_cores(),
        level=options.level,
        median_s=timing.median_s,
        min_s=timing.min_s,
        ci_s=timing.ci_s,
        samples=len(timing.samples),
        stopped_by=timing.stopped_by,
        profiled_s=events.run_s,
        kernels_s=events.kernels_s,
        peak_bytes=None if events.peak_bytes is None else events.peak_bytes + inputs,
        session_s=session.seconds,
        notes=(*_notes(timing, options.threads if session.provider == CPU else None), *_of_device(session, events)),
    )


def _cores() -> int:
    """Cores that this process may use, and a cgroup gives it the time of."""
    cpu = detect_cpu()
    quota = math.inf if cpu.quota_cpus is None else math.ceil(cpu.quota_cpus)
    return int(max(1, min(cpu.cores or cpu.threads, quota)))


def _of_device(session: Session, events: Events) -> Iterator[str]:
    """What a reader must know where a device does the work: whether it did, and what the times of kernels are."""
    shares: dict[str, float] = {}
    for kernel in events.kernels:
        shares[kernel.provider] = shares.get(kernel.provider, 0.0) + kernel.seconds
    if session.provider != CPU:
        yield from elsewhere(session.provider, shares, "of the time of kernels")
    yield from (note for note in session.notes() if "memory of the host" in note)
    if session.provider in APART and session.provider not in BLOCKING:
        yield (
            f"times of kernels are of starting them: {session.provider} goes on by itself, and ONNX Runtime's profile "
            "does not tell for how long"
        )


def _notes(timing: Timing, threads: int | None) -> Iterator[str]:
    if timing.waited(threads or 0):
        yield "the machine is loaded: something else had the processor while this was measured"
    if timing.stopped_by == "budget":
        low, high = timing.ci_s
        width = max(high - timing.median_s, timing.median_s - low) / timing.median_s
        yield f"the time for it was over before the median was sure: it is so to {width:.1%}"
    if timing.stopped_by == "interrupt":
        yield "it was interrupted: what was measured until then is kept"

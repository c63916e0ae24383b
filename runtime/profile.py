"""Profile: run a model in ONNX Runtime, and say of every kernel which nodes of the file it does and how well."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx

from neural_cost.analyzer.analyze import analyze
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.errors import BackendError
from neural_cost.analyzer.kernel_work import kernel_work, needed_outside
from neural_cost.analyzer.measurement import Kernel, Measurement, mapping
from neural_cost.analyzer.measurement import Mapping as Mapped
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.report import Report
from neural_cost.analyzer.roofline import Bound, Work, kernel_bound
from neural_cost.runtime.feeds import make_feeds, shapes_of
from neural_cost.runtime.free_memory import foreseen
from neural_cost.runtime.inputs import Array
from neural_cost.runtime.mapping.claims import Claim, claim_all
from neural_cost.runtime.mapping.executed import executed_graph
from neural_cost.runtime.mapping.source import source_nodes
from neural_cost.runtime.named_copy import with_names
from neural_cost.runtime.profile_events import Event, Executed, read_profile
from neural_cost.runtime.profile_events import Profile as Events
from neural_cost.runtime.session import Session, SessionOptions, call, open_session
from neural_cost.runtime.timing import Timing, benchmark

if TYPE_CHECKING:
    import pandas as pd

WARMUP = 3
LEAST_PROFILED, MOST_PROFILED = 5, 50


@dataclass(frozen=True, slots=True)
class Profile(Record):
    """A report, and what a run of its model took.

    Attributes:
        report: what the model costs.
        measurement: what a run took as a whole.
        kernels: in the order in which they ran.
        mapping: how much of it is known to be which nodes.
        bound: of the fusion groups that ran, on the report's device; None without one.
        timing: every sample.
        events: ONNX Runtime's own, of the last run.
    """

    report: Report
    measurement: Measurement
    kernels: list[Kernel]
    mapping: Mapped
    bound: Bound | None
    timing: Timing = field(repr=False)
    events: Sequence[Event] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The report's JSON, with the measurement beside it."""
        found = self.report.to_dict()
        if self.bound is not None:
            found["bounds"] = [self.bound.to_dict()]
        found["totals"]["traffic_bytes"]["fused"] = self.fused_bytes
        return found | {
            "measurement": self.measurement.to_dict(),
            "kernels": [kernel.to_dict() for kernel in self.kernels],
            "mapping": self.mapping.to_dict(),
        }

    @property
    def fused_bytes(self) -> int | None:
        """Bytes that the kernels must move that do nodes of the file; None where one is not known."""
        known = [kernel.bytes for kernel in self.kernels if kernel.mapped and not kernel.joined]
        if None in known or not self.kernels or self.mapping.unmapped_share:
            return None
        return sum(bytes_ for bytes_ in known if bytes_ is not None)

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each kernel, in pandas, which must be installed."""
        import pandas as pd

        return pd.DataFrame([kernel.to_dict() for kernel in self.kernels])

    def __str__(self) -> str:
        """The table that the command shows."""
        from neural_cost.analyzer.tables.profile import profile_page
        from neural_cost.analyzer.tables.text import to_text

        return to_text(profile_page(self.report, self.measurement, self.kernels, self.mapping, self.bound))

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        from neural_cost.analyzer.tables.html import to_html
        from neural_cost.analyzer.tables.profile import profile_page

        return to_html(profile_page(self.report, self.measurement, self.kernels, self.mapping, self.bound))


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
        dims, shapes, device, trips, progress: as of `analyze`.
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
    report = analyze(path, dims, sizes, device, trips=trips, progress=tell)
    if (warning := foreseen(report)) is not None:
        warnings.warn(warning, ResourceWarning, stacklevel=2)
    options = SessionOptions(provider=provider, threads=threads, level=level)
    feeds = make_feeds(report, inputs)
    file = Path(path)
    model: Path | bytes = with_names(file) or file
    folder = file.resolve().parent if isinstance(model, bytes) else None
    tell("running")
    session = open_session(model, options, name=file, folder=folder)
    run = session.runner(feeds)
    timing = call(str(file), lambda: benchmark(run, warmup=WARMUP, budget_s=budget_s))
    with tempfile.TemporaryDirectory() as scratch:
        tell("profiling")
        events, graph = _profiled(model, options, folder, feeds, Path(scratch), timing, budget_s)
    kernels = _kernels(report, events, graph)
    return Profile(
        report,
        _measurement(session, options, timing, events, feeds),
        kernels,
        mapping(kernels, report.totals.macs if report.totals.complete else None),
        _bound(report, kernels),
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
) -> tuple[Events, onnx.GraphProto | None]:
    optimized = scratch / "optimized.onnx"
    try:
        session = open_session(model, options, folder=folder, profile=scratch / "profile", optimized=optimized)
    except BackendError:  # a provider that compiles parts of the graph cannot save it
        session = open_session(model, options, folder=folder, profile=scratch / "profile")
    run = session.runner(feeds)
    runs = max(LEAST_PROFILED, min(MOST_PROFILED, int(budget_s / max(timing.median_s, 1e-6))))
    for _ in range(WARMUP + runs):
        run()
    events = read_profile(Path(session.handle.end_profiling()), WARMUP)
    graph = onnx.load(optimized, load_external_data=False).graph if optimized.exists() else None
    return events, graph


def _kernels(report: Report, events: Events, graph: onnx.GraphProto | None) -> list[Kernel]:
    """Kernels that ran, each with the nodes that it does; without the graph that ran, no one knows which."""
    claims = [] if graph is None else claim_all(executed_graph(graph), source_nodes(report.nodes))
    by_name = {claim.node.name: claim for claim in claims}
    readers = needed_outside(report.nodes, [tensor.name for tensor in report.opened.ends.outputs])
    return [_kernel(report, ran, by_name.get(ran.name), readers) for ran in events.kernels]


def _kernel(report: Report, ran: Executed, claim: Claim | None, readers: Mapping[str, set[int]]) -> Kernel:
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
        inserted=claim is not None and claim.inserted,
        macs=None if claim is None else 0 if joined else _macs(report, places),
        work=work,
        bound_s=None if bound is None else bound * ran.executions,
    )


def _work(report: Report, claim: Claim, readers: Mapping[str, set[int]]) -> Work | None:
    once = [place for place in claim.places if place not in claim.twins]
    needed = {
        tensor.name
        for place in once
        for tensor in report.nodes[place].outputs
        if not readers.get(tensor.name, set()) <= set(claim.places)
    }
    return kernel_work([report.nodes[place] for place in once], needed)


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
        notes=tuple(_notes(timing, options.threads)),
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

"""Compare: a model's own framework beside ONNX Runtime, each in a process of its own."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

from neural_cost.analyzer.comparison import BackendResult, Comparison, ratios
from neural_cost.analyzer.errors import BackendError, ExportError
from neural_cost.analyzer.intervals import median_interval
from neural_cost.runtime.backends.protocol import ONNX, Backend
from neural_cost.runtime.backends.registry import chosen
from neural_cost.runtime.inputs import Array
from neural_cost.runtime.rounds.rounds import Plan, Run, order_of, take_turns
from neural_cost.runtime.timing import WAITING
from neural_cost.subjects import Stage, Subject, sizes_of_subject, subject_of_model, subject_of_target, write_inputs

PACKAGES = {"torch": ("torch",), "keras": ("tensorflow", "keras"), "jax": ("jax",)}


def compare(
    model: Any,
    example_inputs: Any = None,
    *,
    backends: Sequence[str] | None = None,
    reference: str | None = None,
    dims: Mapping[str, int] | None = None,
    batches: Sequence[int] = (),
    threads: int = 1,
    device: str = "cpu",
    budget_s: float = 10.0,
    timeout_s: float = 300.0,
    progress: Stage | None = None,
) -> Comparison:
    """Time a model's own framework beside ONNX Runtime, in turns, and compare their results.

    Args:
        model: of a framework, or a target: an .onnx file, "module:factory", "zoo:cnn@jax"...
        example_inputs: as the model takes them; targets bring their own.
        backends: names; by default all that run models of this framework, and ONNX Runtime at each level.
        reference: the backend that the others are measured against; by default the first.
        dims: sizes of open dimensions; by default those of the example.
        batches: further sizes of the dimension "batch", for throughput.
        threads: that each backend gets.
        device: "cpu" or "cuda".
        budget_s: seconds for all rounds.
        timeout_s: seconds after which a backend that does not answer is ended.
        progress: is told each stage.

    Warns:
        ResourceWarning: weights and activations need more memory than is free.

    Raises:
        ExportError, ModelError: there is no such model.
        BackendError: a backend is not known, or the reference fails.
    """
    tell = progress or (lambda stage: None)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if isinstance(model, str | Path):
            subject = subject_of_target(str(model), dims or {}, tell)
        else:
            subject = subject_of_model(model, example_inputs, folder, tell)
        wanted = [each for each in chosen(subject.framework, backends) if subject.file or each.framework != ONNX]
        named = _reference(wanted, reference)
        sizes = sizes_of_subject(subject, dims or {})
        feeds = write_inputs(subject, sizes, folder / "feeds.npz")
        if subject.file is not None:
            _warn(subject.file, sizes, device)
        others = {
            size: write_inputs(subject, {**sizes, "batch": size}, folder / f"batch{size}.npz") for size in batches
        }
        orders = [
            order_of(
                folder,
                backend=each,
                load=None if each.framework == ONNX else subject.load,
                file=subject.file,
                threads=threads,
                device=device,
            )
            for each in wanted
        ]
        plan = Plan(budget_s=budget_s, timeout_s=timeout_s, others=others)
        runs, interrupted = take_turns(orders, feeds, plan, folder, tell)
        return _comparison(subject, runs, named, sizes, threads, device, interrupted=interrupted)


def _warn(file: Path, sizes: Mapping[str, int], device: str) -> None:
    """Warn of a model that does not fit into memory; one that cannot be analyzed may still run."""
    from neural_cost.analyzer.analyze import analyze
    from neural_cost.analyzer.errors import NeuralCostError
    from neural_cost.runtime.free_memory import foreseen

    try:
        warning = foreseen(analyze(file, sizes), device)
    except NeuralCostError:
        return
    if warning is not None:
        warnings.warn(warning, ResourceWarning, stacklevel=3)


def _reference(wanted: Sequence[Backend], name: str | None) -> str:
    names = [each.name for each in wanted]
    if name is not None and name not in names:
        raise BackendError(f'the reference "{name}" is not among the backends: {", ".join(names)}.')
    if not names:
        raise BackendError("there is nothing to compare: no backend runs this model.")
    return name or names[0]


def _comparison(  # noqa: PLR0917
    subject: Subject,
    runs: Sequence[Run],
    reference: str,
    sizes: Mapping[str, int],
    threads: int,
    device: str,
    *,
    interrupted: bool,
) -> Comparison:
    from neural_cost.runtime.detect import detect_cpu

    first = next(run for run in runs if run.name == reference)
    expected = first.arrays
    return Comparison(
        target=subject.name,
        reference=reference,
        threads=threads,
        device=device,
        dims=dict(sizes),
        machine=detect_cpu().name,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=_versions(subject.framework),
        notes=tuple(_notes(subject, first, interrupted=interrupted)) + _busy(runs, threads),
        interrupted=interrupted,
        backends=[_result(run, first, expected, sizes) for run in runs],
    )


def _result(run: Run, reference: Run, expected: Sequence[Array] | None, sizes: Mapping[str, int]) -> BackendResult:
    medians = run.medians
    paired = ratios(run.rounds, reference.rounds)
    absolute, relative, within, wrong = _differences(run, expected, sizes)
    throughput = {size: size / median(times) for size, times in run.others.items() if times}
    if medians and "batch" in sizes:
        throughput[sizes["batch"]] = sizes["batch"] / median(medians)
    return BackendResult(
        name=run.name,
        framework=run.framework,
        error=run.error or wrong,
        median_s=median(medians) if medians else None,
        min_s=min(run.samples, default=None),
        ci_s=median_interval(medians) if medians else None,
        ratio_to_native=median(paired) if paired else None,
        ratio_ci=median_interval(paired) if paired else None,
        prepare_s=None if run.started is None else run.started.prepare_s,
        first_call_s=None if run.started is None else run.started.first_s,
        memory_bytes=run.memory,
        max_abs_diff=absolute,
        max_rel_diff=relative,
        within=within,
        throughput=throughput,
        cpu_share=run.cpu_share,
        notes=run.notes,
        samples=run.rounds,
    )


def _differences(
    run: Run, expected: Sequence[Array] | None, sizes: Mapping[str, int]
) -> tuple[float | None, float | None, bool | None, str | None]:
    """Largest differences from the reference; whether they are within tolerance; and what cannot be compared."""
    from neural_cost.exporters.parity import difference

    found = run.arrays
    if expected is None or found is None:
        return None, None, None, None
    if len(expected) != len(found):
        return None, None, False, f"it gives {len(found)} results, and the reference {len(expected)}"
    try:
        records = [
            difference(f"output {place}", *pair, sizes) for place, pair in enumerate(zip(expected, found, strict=True))
        ]
    except ExportError as error:
        return None, None, False, str(error)
    return (
        max((each.max_abs_diff for each in records), default=0.0),
        max((each.max_rel_diff for each in records), default=0.0),
        all(each.within for each in records),
        None,
    )


def _versions(framework: str | None) -> dict[str, str]:
    found = {}
    for name in (*PACKAGES.get(framework or "", ()), "onnxruntime", "neural-cost"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _notes(subject: Subject, reference: Run, *, interrupted: bool) -> Iterator[str]:
    if subject.why_no_file:
        yield f"ONNX Runtime is left out: {subject.why_no_file}"
    if not reference.rounds:
        why = "failed" if reference.error else "was not measured"
        yield f"there are no ratios: the reference {reference.name} {why}"
    if interrupted:
        yield "it was interrupted: what was measured until then is kept"


def _busy(runs: Sequence[Run], threads: int) -> tuple[str, ...]:
    """A note where something else had the processor: known of one thread alone, as more may wait for each other."""
    shares = [run.cpu_share for run in runs if run.cpu_share is not None and run.cpu_share * WAITING < 1]
    if threads != 1 or not shares:
        return ()
    return (
        f"something else ran on this machine: backends had the processor for {min(shares):.0%} to {max(shares):.0%} of "
        "their time, and their times are too long; ratios suffer less",
    )

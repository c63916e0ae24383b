"""Compare: a model's own framework beside ONNX Runtime, each in a process of its own."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

from neural_cost.analyzer.comparison import BackendResult, Comparison, ratios
from neural_cost.analyzer.errors import BackendError, ExportError
from neural_cost.analyzer.intervals import median_interval
from neural_cost.runtime.backends.protocol import ONNX, Backend, NativeCall
from neural_cost.runtime.backends.registry import chosen
from neural_cost.runtime.inputs import Array
from neural_cost.runtime.rounds.arrays import write_arrays
from neural_cost.runtime.rounds.rounds import Plan, Run, order_of, take_turns
from neural_cost.runtime.timing import WAITING

PACKAGES = {"torch": ("torch",), "keras": ("tensorflow", "keras"), "jax": ("jax",)}
Stage = Callable[[str], object]


@dataclass(frozen=True)
class OfTarget:
    """Makes the model that a target names; in the process that runs it."""

    target: str

    def __call__(self) -> NativeCall:
        """The model as its framework calls it."""
        from neural_cost.targets import load

        source = load(self.target, lambda stage: None)
        return native_call(source.model, source.example_inputs)


@dataclass(frozen=True)
class OfModel:
    """A model that was handed over, and its example inputs."""

    model: Any
    example_inputs: Any

    def __call__(self) -> NativeCall:
        """The model as its framework calls it."""
        return native_call(self.model, self.example_inputs)


@dataclass(frozen=True)
class Carried:
    """The same, as bytes that hold the code of what no other process can import: of a notebook, a script, a closure."""

    data: bytes

    def __call__(self) -> NativeCall:
        """The model as its framework calls it."""
        import cloudpickle

        return native_call(*cloudpickle.loads(self.data))


@dataclass(frozen=True)
class Subject:
    """What is compared: a file, and the model that it was made of, if any.

    Attributes:
        dims: names of open axes by input.
        example: arrays by the names of inputs.
        framework: of the model; None for a file that came as one.
        load: makes the model.
        why_no_file: why there is no file to run; the framework's own backends are then compared alone.
    """

    name: str
    file: Path | None
    example: Mapping[str, Array]
    dims: Mapping[str, Mapping[int, str]]
    framework: str | None
    load: Callable[[], NativeCall] | None
    why_no_file: str = ""


def native_call(model: Any, example_inputs: Any) -> NativeCall:
    """A model as a function of its tensors.

    Raises:
        ExportError: its exporter cannot tell how it is called.
    """
    from neural_cost.exporters.registry import exporter_of

    exporter = exporter_of(model, example_inputs)
    call = getattr(exporter, "call", None)
    if call is None:
        raise ExportError(f"the exporter of {exporter.name} models does not tell how they are called.")
    return call(model, example_inputs)  # type: ignore[no-any-return]


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
            subject = _of_target(str(model), dims or {}, tell)
        else:
            subject = _of_model(model, example_inputs, folder, tell)
        wanted = [each for each in chosen(subject.framework, backends) if subject.file or each.framework != ONNX]
        named = _reference(wanted, reference)
        sizes = _sizes(subject, dims or {})
        feeds = _written(subject, sizes, folder / "feeds.npz")
        if subject.file is not None:
            _warn(subject.file, sizes)
        others = {size: _written(subject, {**sizes, "batch": size}, folder / f"batch{size}.npz") for size in batches}
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


def _of_target(target: str, dims: Mapping[str, int], tell: Stage) -> Subject:
    """The file of a target, and what makes its model; the example is that of the file where it has open dimensions."""
    from neural_cost.targets import is_onnx, load, onnx_file

    if is_onnx(target):
        return _of_file(target, dims)
    source = load(target, tell)
    from neural_cost.exporters.registry import exporter_of

    framework = exporter_of(source.model, source.example_inputs).name
    call = native_call(source.model, source.example_inputs)
    try:
        file: Path | None = onnx_file(target, tell)
        why = ""
    except ExportError as error:
        file, why = None, str(error)
    return Subject(target, file, call.example, _open(file), framework, OfTarget(target), why)


def _of_model(model: Any, example_inputs: Any, folder: Path, tell: Stage) -> Subject:
    from neural_cost.exporters.export import export
    from neural_cost.exporters.registry import exporter_of

    name = getattr(model, "__name__", type(model).__name__)
    call = native_call(model, example_inputs)
    framework = exporter_of(model, example_inputs).name
    load = _carried(model, example_inputs)
    try:
        exported = export(model, example_inputs, folder / "model.onnx", progress=tell)
        return Subject(name, exported.path, call.example, exported.dims, framework, load)
    except ExportError as error:
        return Subject(name, None, call.example, {}, framework, load, str(error))


def _carried(model: Any, example_inputs: Any) -> Callable[[], NativeCall]:
    """What makes the model in another process; what cannot be carried there is told when the process is started."""
    try:
        import cloudpickle

        return Carried(cloudpickle.dumps((model, example_inputs)))
    except Exception:  # whatever the model's own parts raise, or there is no cloudpickle
        return OfModel(model, example_inputs)


def _of_file(target: str, dims: Mapping[str, int]) -> Subject:
    from neural_cost.analyzer.analyze import analyze
    from neural_cost.runtime.feeds import make_feeds

    example = make_feeds(analyze(target, dims))
    return Subject(target, Path(target), example, _open(Path(target)), None, None)


def _open(file: Path | None) -> dict[str, dict[int, str]]:
    """Names of open axes by input."""
    if file is None:
        return {}
    import onnx

    graph = onnx.load(file, load_external_data=False).graph
    held = {tensor.name for tensor in graph.initializer}
    return {
        value.name: {axis: dim.dim_param for axis, dim in enumerate(value.type.tensor_type.shape.dim) if dim.dim_param}
        for value in graph.input
        if value.name not in held
    }


def _sizes(subject: Subject, dims: Mapping[str, int]) -> dict[str, int]:
    from neural_cost.analyzer.errors import DimensionError, listed
    from neural_cost.exporters.sample import sizes_of

    sizes = sizes_of(subject.example, subject.dims)
    for name in dims:
        if name not in sizes:
            raise DimensionError(f'{subject.name} has no open dimension "{name}"; it has: {listed(sizes)}.')
    return {**sizes, **dims}


def _warn(file: Path, sizes: Mapping[str, int]) -> None:
    """Warn of a model that does not fit into memory; one that cannot be analyzed may still run."""
    from neural_cost.analyzer.analyze import analyze
    from neural_cost.analyzer.errors import NeuralCostError
    from neural_cost.runtime.free_memory import foreseen

    try:
        warning = foreseen(analyze(file, sizes))
    except NeuralCostError:
        return
    if warning is not None:
        warnings.warn(warning, ResourceWarning, stacklevel=3)


def _written(subject: Subject, sizes: Mapping[str, int], file: Path) -> Path:
    """Inputs of these sizes, as a file that processes can read."""
    from neural_cost.analyzer.errors import DimensionError
    from neural_cost.exporters.sample import sample

    known = {name for axes in subject.dims.values() for name in axes.values()}
    if "batch" in sizes and "batch" not in known:
        raise DimensionError(f'{subject.name} has no open dimension "batch": its batch cannot be varied.')
    write_arrays(file, sample(subject.example, subject.dims, sizes, 0))
    return file


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
        yield f"there are no ratios: the reference {reference.name} failed"
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

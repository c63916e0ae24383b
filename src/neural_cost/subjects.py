"""What is compared: the file, the inputs, and the model of a framework, as other processes can make it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neural_cost.analyzer.errors import DimensionError, ExportError, listed
from neural_cost.runtime.backends.protocol import NativeCall
from neural_cost.runtime.inputs import Array
from neural_cost.runtime.rounds.arrays import write_arrays

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
    from neural_cost.exporters.protocol import Caller
    from neural_cost.exporters.registry import exporter_of

    exporter = exporter_of(model, example_inputs)
    if not isinstance(exporter, Caller):
        raise ExportError(
            f"a model of {exporter.name} cannot be run: it has no weights, or its exporter does not tell how it is "
            "called; analyze it."
        )
    return exporter.call(model, example_inputs)


def subject_of_target(target: str, dims: Mapping[str, int], tell: Stage) -> Subject:
    """The file of a target, and what makes its model; the example is that of the file where it has open dimensions."""
    from neural_cost.targets import exported, is_onnx, load, named

    if is_onnx(target):
        return _of_file(target, dims)
    source = load(target, tell)
    from neural_cost.exporters.registry import exporter_of

    framework = exporter_of(source.model, source.example_inputs).name
    with named(target):
        call = native_call(source.model, source.example_inputs)
    try:
        file: Path | None = exported(source, tell)
        why = ""
    except ExportError as error:
        file, why = None, str(error)
    return Subject(target, file, call.example, open_axes(file), framework, OfTarget(target), why)


def subject_of_model(model: Any, example_inputs: Any, folder: Path, tell: Stage) -> Subject:
    """A model that was handed over, exported into a folder where that is possible."""
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
    return Subject(target, Path(target), example, open_axes(Path(target)), None, None)


def open_axes(file: Path | None) -> dict[str, dict[int, str]]:
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


def sizes_of_subject(subject: Subject, dims: Mapping[str, int]) -> dict[str, int]:
    """Sizes of open dimensions: those that were given, else those of the example.

    Raises:
        DimensionError: one was given that is not there.
    """
    from neural_cost.exporters.sample import sizes_of

    sizes = sizes_of(subject.example, subject.dims)
    for name in dims:
        if name not in sizes:
            raise DimensionError(f'{subject.name} has no open dimension "{name}"; it has: {listed(sizes)}.')
    return {**sizes, **dims}


def write_inputs(subject: Subject, sizes: Mapping[str, int], file: Path) -> Path:
    """Write inputs of these sizes to a file that processes can read, and return it.

    Raises:
        DimensionError: there is no batch that could have this size.
    """
    from neural_cost.exporters.sample import sample

    known = {name for axes in subject.dims.values() for name in axes.values()}
    if "batch" in sizes and "batch" not in known:
        raise DimensionError(f'{subject.name} has no open dimension "batch": its batch cannot be varied.')
    write_arrays(file, sample(subject.example, subject.dims, sizes, 0))
    return file

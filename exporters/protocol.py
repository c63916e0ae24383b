"""What an exporter is: a class with a name, that says which models are its own and writes an ONNX file of one.

An exporter needs no base class, and checks nothing: `neural_cost.exporters.export` hands it a folder of its own, checks
what it writes, and moves it to its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

Array: TypeAlias = "np.ndarray[Any, Any]"
Dims: TypeAlias = Mapping[str, Mapping[int, str]]
Native: TypeAlias = Callable[[Mapping[str, Array]], Sequence[Array]]


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asks of an export.

    Attributes:
        dynamic_dims: names of open axes by input, `{"x": {0: "batch"}}`, or `{0: "batch"}` for the only input. None
            opens the first axis of all inputs as `batch` where they share its size; an empty mapping opens nothing.
        opset: version of the default domain; None takes what the exporter does best.
    """

    dynamic_dims: Mapping[Any, Any] | None = None
    opset: int | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What an exporter hands over with the file that it wrote, before anything is checked.

    Attributes:
        exporter: what wrote it, as "torch.onnx (dynamo)".
        versions: of the packages that decide what is written, by name.
        example: an array for each input of the file, by its name there.
        dims: open axes of inputs, by name: `{"x": {0: "batch"}}`.
        native: runs the model in its framework: arrays by input name to one array for each output, in the file's order.
            It leaves the model as it was. None for a file without weights, which nothing can be compared with.
        notes: what a user should know of the file: an axis that could not be left open, and why.
    """

    exporter: str
    versions: Mapping[str, str]
    example: Mapping[str, Array]
    dims: Dims
    native: Native | None
    notes: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True)
class Call:
    """How a model is called in its framework.

    Attributes:
        function: takes tensors of the framework, one for each array of `example`, and returns the structure of outputs.
        example: arrays by the names of inputs.
    """

    function: Callable[..., Any]
    example: Mapping[str, Array]


@runtime_checkable
class Caller(Protocol):
    """An exporter whose models can be timed in their framework, beside their files."""

    def call(self, model: Any, example_inputs: Any) -> Call:
        """How a model is called, in inference mode, in which it may be left."""
        ...


class Exporter(Protocol):
    """One framework. Register an instance, or the class, under the entry point group `neural_cost.exporters`."""

    name: str
    """The framework, as in `zoo:cnn@NAME`."""

    def recognises(self, model: object, example_inputs: object) -> bool:
        """Say whether a model is of this framework, without importing the framework."""
        ...

    def reads(self, file: Path) -> bool:
        """Say whether `load` reads a file or folder, by its name and what lies in it."""
        ...

    def load(self, file: Path) -> tuple[object, object]:
        """Read a saved model, without running code from it, and return it with example inputs."""
        ...

    def content(self, model: Any, example_inputs: Any) -> bytes | None:
        """Digest all that the file depends on, so that an export can be kept; None where that cannot be told."""
        ...

    def export(self, model: Any, example_inputs: Any, file: Path, request: Request) -> Draft:
        """Write `file`, and its external data beside it if any.

        Raises:
            ExportError: the model cannot be exported; the message says what in it is in the way, and the way out.
            BackendError: a package is missing.
        """
        ...

"""What a backend is: a name, the framework whose models it runs, and a way to make a model ready.

A backend needs no base class. Register one, or a class of one, under the entry point group `neural_cost.backends`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from neural_cost.runtime.inputs import Array
from neural_cost.runtime.timing import Timer

ONNX = "onnx"  # the framework of a backend that runs the file


class NativeCall(Protocol):
    """A model of a framework: a function of one tensor for each array of its example."""

    @property
    def function(self) -> Callable[..., Any]:
        """Takes tensors of the framework, and returns the structure of outputs."""
        ...

    @property
    def example(self) -> Mapping[str, Array]:
        """Arrays by the names of inputs."""
        ...


@dataclass(frozen=True)
class Job:
    """What is to be run.

    Attributes:
        file: the ONNX file.
        native: the model of the framework; None for a backend that runs the file.
        threads: of one operator.
        device: "cpu", "cuda"...: which one the framework is asked for.
    """

    file: Path | None
    native: NativeCall | None
    threads: int
    device: str = "cpu"


@dataclass(frozen=True)
class Ready:
    """A model with its inputs.

    Attributes:
        run: one run; it returns when the result is there, unless `timer` waits for it.
        outputs: the results of one run, in the order of the file.
        timer: for a device with a clock of its own; else this machine's.
        notes: after the first run, what a user should know of how the model runs.
    """

    run: Callable[[], object]
    outputs: Callable[[], Sequence[Array]]
    timer: Timer | None = None
    notes: Callable[[], Sequence[str]] = tuple


class Backend(Protocol):
    """One way to run models."""

    @property
    def name(self) -> str:
        """As results list it."""
        ...

    @property
    def framework(self) -> str:
        """Whose models it runs: the name of an exporter, or "onnx" for files."""
        ...

    def missing(self) -> str | None:
        """What must be installed before it can run; None when it can."""
        ...

    def prepare(self, job: Job) -> Callable[[Mapping[str, Array]], Ready]:
        """Make the model ready, in a process of its own, and return what takes inputs by name."""
        ...

"""Static analysis against one run: shapes, types and trip counts that differ, node by node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from neural_cost.analyzer.errors import BackendError
from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.report import Report
from neural_cost.runtime.exposed_run import Observed, run_exposed
from neural_cost.runtime.inputs import Array


@dataclass(frozen=True, slots=True)
class Difference:
    """What analysis says of a node, and what a run shows; `what` is "shape", "type" or "trips"."""

    index: int
    node: str
    op_type: str
    tensor: str
    what: str
    static: Any
    run: Any

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        """One line."""
        where = f'{self.op_type} node "{self.node}"' + (f', tensor "{self.tensor}"' if self.tensor else "")
        return f"{where}: {self.what} is {self.run} in a run, {self.static} in the analysis"


@dataclass(frozen=True, slots=True)
class Verification:
    """The comparison of a report with one run.

    Attributes:
        compared: tensors whose shape and type are known, and were seen in the run.
        unknown: tensors that the run showed and the analysis does not know whole.
        unseen: tensors of the report that the run does not show: those in bodies and in functions.
        trips: loops whose trip counts were compared.
        differences: where the two disagree.
    """

    compared: int
    unknown: int
    unseen: int
    trips: int
    differences: list[Difference]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        counts = {name: getattr(self, name) for name in ("compared", "unknown", "unseen", "trips")}
        return counts | {"differences": [difference.to_dict() for difference in self.differences]}

    def __str__(self) -> str:
        """A line of counts, and one for each difference."""
        found = f"{len(self.differences)} differences" if self.differences else "no difference"
        loops = f" and the trips of {self.trips} loops" if self.trips else ""
        if not self.compared and not self.trips:
            found, loops = "nothing is verified", ", as none could be compared"
        head = (
            f"run in ONNX Runtime: {found} in {self.compared} tensors{loops}; "
            f"{self.unknown} not known, {self.unseen} not shown by the run"
        )
        return "\n".join([head, *map(str, self.differences)])

    def _repr_html_(self) -> str:
        """The lines for a notebook."""
        return f"<pre>{escape(str(self))}</pre>"


def verify(report: Report, inputs: Mapping[str, Array] | None = None) -> Verification:
    """Run the model of a report once, on inputs of its shapes, and compare.

    Raises:
        BackendError: ONNX Runtime cannot run the model, or there is no report or no input to run.
    """
    if not isinstance(report, Report):
        raise BackendError(f"verify takes a report, as neural_cost.analyze gives it, not a {type(report).__name__}.")
    if inputs is not None and not isinstance(inputs, Mapping):
        raise BackendError(f'inputs are arrays by name, as {{"input": array}}, not a {type(inputs).__name__}.')
    if no_array := next((name for name, each in (inputs or {}).items() if not hasattr(each, "dtype")), None):
        raise BackendError(f'the input "{no_array}" must be an array of NumPy.')
    observed = run_exposed(Path(report.model.path), _input_shapes(report), report.model.dims, inputs)
    rows = [(node, tensor) for node in report.nodes for tensor in node.outputs]
    shown = [(node, tensor) for node, tensor in rows if node.graph == "main" and tensor.name in observed.tensors]
    differences = [d for node, tensor in shown for d in _differences(node, tensor, observed)]
    trips = list(_trips(report, observed))
    unknown = sum(not _is_known(tensor) for _, tensor in shown)
    return Verification(
        len(shown) - unknown,
        unknown,
        len(rows) - len(shown),
        len(trips),
        differences + [difference for difference in trips if difference.static != difference.run],
    )


def _input_shapes(report: Report) -> dict[str, tuple[int, ...]]:
    """Shapes of graph inputs as nodes read them: no node makes them."""
    read = {tensor.name: tensor for node in report.nodes for tensor in node.inputs if node.graph == "main"}
    return {name: tuple(d for d in t.dims or () if d is not None) for name, t in read.items() if _is_known(t)}


def _is_known(tensor: Tensor) -> bool:
    return tensor.dtype is not None and tensor.dims is not None and None not in tensor.dims


def _differences(node: Any, tensor: Tensor, observed: Observed) -> Iterator[Difference]:
    dtype, shape = observed.tensors[tensor.name]
    if tensor.dtype is not None and tensor.dtype != dtype:
        yield Difference(node.index, node.name, node.op_type, tensor.name, "type", tensor.dtype, dtype)
    dims = tensor.dims
    if dims is not None and (
        len(dims) != len(shape) or any(d is not None and d != s for d, s in zip(dims, shape, strict=True))
    ):
        yield Difference(node.index, node.name, node.op_type, tensor.name, "shape", list(dims), list(shape))


def _trips(report: Report, observed: Observed) -> Iterator[Difference]:
    """Static and true trips of each Loop of the main graph whose trips are known; equal ones too."""
    for node in report.nodes:
        if node.graph != "main" or node.op_type != "Loop" or node.index not in observed.trips:
            continue
        inside = next((each for each in report.nodes if each.graph == f"main/{node.name}/body"), None)
        if inside is not None and inside.repeats is not None:
            yield Difference(node.index, node.name, "Loop", "", "trips", inside.repeats, observed.trips[node.index])

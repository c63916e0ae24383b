"""Records of a report: the model, its totals, what they leave out, and each node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from neural_cost.analyzer.engine import FalseShape
from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.parameters import Weight, distinct
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.walk import NodeCost


@dataclass(frozen=True, slots=True)
class ModelInfo(Record):
    """The file that was analyzed.

    Attributes:
        nodes: how many there are, those of bodies and of each call of a function among them.
        dims: sizes of open dimensions, those that were assumed too.
        assumed_dims: those of them that nobody gave: taken is the least that fits, which is mostly 1.
        false_shapes: what the file declares and inference contradicts.
    """

    path: str
    ir_version: int
    opsets: dict[str, int]
    producer: str
    nodes: int
    dims: dict[str, int]
    assumed_dims: list[str]
    false_shapes: list[FalseShape] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = ("path", "ir_version", "opsets", "producer", "nodes", "dims", "assumed_dims")
        false = [{"tensor": f.tensor, "declared": f.declared, "inferred": f.inferred} for f in self.false_shapes]
        return {name: getattr(self, name) for name in names} | {"false_shapes": false}


@dataclass(frozen=True, slots=True)
class Totals(Record):
    """Sums of what is known, each node as often as it runs; `complete` is False where something is left out.

    Attributes:
        flops: 2 for each MAC, and `other_flops`.
        special_ops: those of the other FLOPs that are transcendental.
        flops_by_kind: FLOPs by kind of node: "contraction", "quantization", "elementwise"...
        parameters: elements of weights, a shared one once.
        parameter_bytes: the same as the file stores them.
        per_op_bytes: what all nodes read and write.
        compulsory_bytes: weights, other constants that are data, inputs and outputs once; None where that is not
            known whole.
        activation_peak_bytes: the most that is alive at one node, weights apart; None where a size is not known.
        fused_bytes: what all fusion groups read and write, as ONNX Runtime may form them; None in
            totals that come from formulas.
    """

    complete: bool
    macs: int
    flops: int
    other_flops: int
    special_ops: int
    macs_by_type: dict[str, int]
    flops_by_type: dict[str, int]
    flops_by_kind: dict[str, int]
    parameters: int
    parameter_bytes: int
    per_op_bytes: int
    compulsory_bytes: int | None
    activation_peak_bytes: int | None = None
    fused_bytes: int | None = field(default=None, compare=False)

    @property
    def traffic_bytes(self) -> dict[str, int | None]:
        """Bytes moved: "compulsory", "fused" and "per_op"."""
        return {"compulsory": self.compulsory_bytes, "fused": self.fused_bytes, "per_op": self.per_op_bytes}

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what is not known is null."""
        names = [name for name in self.__slots__ if not name.startswith(("per_op", "compulsory", "fused"))]
        return {name: getattr(self, name) for name in (*names, "traffic_bytes")}

    def _shown(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Coverage(Record):
    """What the totals hold, and what they leave out, with the reason."""

    nodes: int
    costed: int
    uncounted: list[dict[str, Any]]
    unknown_shapes: list[dict[str, str]]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


class Call(NamedTuple):
    """A call that a node came through: the function, and the name of the node that called it."""

    function: str
    node: str


@dataclass(frozen=True, slots=True)
class NodeRecord(Record):
    """One node. Counts are those of one execution, and None where they are not known.

    Attributes:
        index: position in the file, or in the body that holds the node.
        scope: the module that it belongs to.
        kind: what sort of work it does; FLOPs of "quantization" are those of quantizing and dequantizing.
        graph: "main", or the path of the body that holds it.
        repeats: executions in one run of the model; 0 in a branch that is not counted; None where that is not known.
        calls: the functions that it came through, outermost first.
        inputs, outputs: tensors that it reads and writes; absent optional ones are left out.
        weights: what it reads of the model's weights, as the file stores them. A weight that several nodes read
            stands at each of them, and once in the totals. A node that runs at load time has none: who reads its
            result has them.
        constant: depends on constants alone, so it runs at load time and costs nothing.
        why: the reason why its cost is not known.
        bound_s: seconds of one execution that the device cannot beat; None where there is no figure, or no device.
        bounded: there is a device.
        source: the node as the walk found it.
    """

    index: int
    name: str
    op_type: str
    domain: str
    scope: str
    kind: str
    graph: str
    repeats: int | None
    calls: tuple[Call, ...]
    inputs: list[Tensor]
    outputs: list[Tensor]
    macs: int | None
    flops: int | None
    other_flops: int | None
    special_ops: int | None
    compute_type: str | None
    read_bytes: int | None
    write_bytes: int | None
    weights: tuple[Weight, ...]
    constant: bool
    why: str | None
    bound_s: float | None
    bounded: bool
    source: NodeCost = field(repr=False, compare=False)

    @property
    def operator(self) -> str:
        """The operator with its domain, unless that is the standard's."""
        return f"{self.domain}::{self.op_type}" if self.domain else self.op_type

    @property
    def label(self) -> str:
        """Its name, or its operator and index where it has none."""
        return self.name or f"{self.op_type} {self.index}"

    @property
    def parameters(self) -> int:
        """Elements of the weights that it reads; packed ones count each."""
        return sum(weight.elements for weight in self.weights)

    @property
    def parameter_bytes(self) -> int:
        """Bytes of the weights that it reads, as the file stores them: whole, also where it takes a few rows."""
        return sum(weight.stored.bytes for weight in self.weights)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = (
            "index", "name", "op_type", "domain", "scope", "kind", "graph", "repeats", "macs", "flops", "other_flops",
            "special_ops", "compute_type", "read_bytes", "write_bytes", "parameters", "parameter_bytes", "constant",
            "why",
        )  # fmt: skip
        return (
            {name: getattr(self, name) for name in names}
            | ({"bound_s": self.bound_s} if self.bounded else {})
            | {
                "calls": [call._asdict() for call in self.calls],
                "inputs": [_tensor(tensor) for tensor in self.inputs],
                "outputs": [_tensor(tensor) for tensor in self.outputs],
            }
        )


def node_record(
    found: NodeCost, weights: Mapping[str, Weight], bound_s: float | None = None, *, bounded: bool = False
) -> NodeRecord:
    """Record a node; `weights` are the model's, by the names that nodes read them under."""
    node, cost = found.node, found.cost
    read = () if found.constant else _read(node.inputs, weights)
    return NodeRecord(
        found.index,
        node.name,
        node.op_type,
        node.domain,
        found.scope,
        found.kind,
        found.graph,
        found.repeats,
        tuple(Call(*call) for call in found.calls) if found.calls else (),
        [tensor for tensor in node.inputs if tensor is not None],
        [tensor for tensor in node.outputs if tensor is not None],
        None if cost is None else cost.macs,
        None if cost is None else cost.flops,
        None if cost is None else cost.other_flops,
        None if cost is None else cost.special_ops,
        None if cost is None else cost.compute_type,
        None if cost is None else cost.read_bytes,
        None if cost is None else cost.write_bytes,
        read,
        found.constant,
        found.why,
        bound_s,
        bounded,
        found,
    )


def _read(inputs: Sequence[Tensor | None], weights: Mapping[str, Weight]) -> tuple[Weight, ...]:
    found = [weights[tensor.name] for tensor in inputs if tensor is not None and tensor.name in weights]
    return tuple(distinct(found)) if len(found) > 1 else tuple(found)


def _tensor(tensor: Tensor) -> dict[str, Any]:
    shape = None if tensor.dims is None else list(tensor.dims)
    found = {"name": tensor.name, "dtype": tensor.dtype, "shape": shape}
    if tensor.symbols is not None:
        found["symbolic_shape"] = [dim if isinstance(dim, int | None) else str(dim) for dim in tensor.symbols]
    return found

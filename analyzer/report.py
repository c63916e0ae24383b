"""Report: what a model costs, as records and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Literal, TypeAlias

from neural_cost.analyzer.cost import FLOPS_PER_MAC
from neural_cost.analyzer.engine import FalseShape
from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.parameters import Weight
from neural_cost.analyzer.walk import NodeCost

Causal: TypeAlias = Literal["full", "half"]  # what of causal attention is counted


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The file that was analyzed."""

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
class Totals:
    """Sums of what is known; `complete` is False where something is left out."""

    complete: bool
    macs: int
    flops: int
    other_flops: int
    special_ops: int
    macs_by_type: dict[str, int]
    flops_by_type: dict[str, int]
    parameters: int
    parameter_bytes: int
    per_op_bytes: int
    compulsory_bytes: int | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what is not known, or not counted yet, is null."""
        names = [name for name in self.__slots__ if not name.startswith(("per_op", "compulsory"))]
        traffic = {"compulsory": self.compulsory_bytes, "fused": None, "per_op": self.per_op_bytes}
        return {n: getattr(self, n) for n in names} | {"traffic_bytes": traffic, "activation_peak_bytes": None}


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the totals hold, and what they leave out, with the reason."""

    nodes: int
    costed: int
    uncounted: list[dict[str, Any]]
    unknown_shapes: list[dict[str, str]]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One node of the report; an unknown count is None."""

    source: NodeCost = field(repr=False)
    bound_s: float | None = None
    bounded: bool = False

    def __getattr__(self, name: str) -> Any:
        if name in ("macs", "flops", "other_flops", "special_ops", "read_bytes", "write_bytes", "compute_type"):
            return None if self.source.cost is None else getattr(self.source.cost, name)
        if name in ("index", "scope", "kind", "graph", "repeats", "constant", "why"):
            return getattr(self.source, name)
        return getattr(self.source.node, name)

    @property
    def inputs(self) -> list[Tensor]:
        """Tensors that are read; absent optional ones are left out."""
        return [tensor for tensor in self.source.node.inputs if tensor is not None]

    @property
    def outputs(self) -> list[Tensor]:
        """Tensors that are written."""
        return [tensor for tensor in self.source.node.outputs if tensor is not None]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = (
            "index", "name", "op_type", "domain", "scope", "kind", "graph", "repeats", "macs", "flops", "other_flops",
            "special_ops", "compute_type", "read_bytes", "write_bytes", "constant", "why",
        )  # fmt: skip
        bound = {"bound_s": self.bound_s} if self.bounded else {}
        return (
            {name: getattr(self, name) for name in names}
            | bound
            | {
                "inputs": [_tensor(tensor) for tensor in self.inputs],
                "outputs": [_tensor(tensor) for tensor in self.outputs],
            }
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What a model costs."""

    model: ModelInfo
    totals: Totals
    coverage: Coverage
    nodes: list[NodeRecord]
    bounds: list[dict[str, Any]]
    notes: list[str]
    causal: Causal = "full"

    def to_dict(self) -> dict[str, Any]:
        """JSON of the report."""
        return {
            "schema_version": 1,
            "tool": {"name": "neural-cost", "version": version("neural-cost")},
            "convention": {"flops_per_mac": FLOPS_PER_MAC, "causal_attention": self.causal},
            "model": self.model.to_dict(),
            "totals": self.totals.to_dict(),
            "coverage": self.coverage.to_dict(),
            "nodes": [node.to_dict() for node in self.nodes],
            "bounds": self.bounds,
            "notes": self.notes,
        }


def total(nodes: list[NodeCost], weights: Sequence[Weight], compulsory: int | None, sizes_known: bool = True) -> Totals:
    """Sum what is known, as often as it runs; `compulsory` is None where it is not known whole.

    `sizes_known` tells that no weight is left out because its size is not known.
    """
    macs: dict[str, int] = {}
    flops: dict[str, int] = {}
    other = special = moved = 0
    complete = sizes_known
    for node in nodes:
        cost, repeats = node.cost, node.repeats
        if cost is None or repeats is None:
            complete = False
            continue
        for kind, count in cost.macs_by_type.items():
            macs[kind] = macs.get(kind, 0) + count * repeats
        for kind, count in cost.flops_by_type.items():
            flops[kind] = flops.get(kind, 0) + count * repeats
        other += cost.other_flops * repeats
        special += cost.special_ops * repeats
        moved += cost.traffic_bytes * repeats
    return Totals(
        complete=complete,
        macs=sum(macs.values()),
        flops=FLOPS_PER_MAC * sum(macs.values()) + other,
        other_flops=other,
        special_ops=special,
        macs_by_type=macs,
        flops_by_type=flops,
        parameters=sum(weight.elements for weight in weights),
        parameter_bytes=sum(weight.stored.bytes for weight in weights),
        per_op_bytes=moved,
        compulsory_bytes=compulsory,
    )


def cover(nodes: list[NodeCost]) -> Coverage:
    """List what is left out: operators without a rule, and nodes whose cost is not known."""
    without = [node for node in nodes if node.uncounted]
    counts = Counter((node.node.domain, node.node.op_type, node.why or "") for node in without)
    uncounted = [{"domain": d, "op_type": o, "nodes": n, "why": w} for (d, o, w), n in counts.items()]
    unknown = [
        {"node": node.node.name, "tensor": next((t.name for t in node.node.outputs if t), ""), "why": node.why or ""}
        for node in nodes
        if node.cost is None and not node.uncounted
    ]
    return Coverage(len(nodes), sum(node.cost is not None for node in nodes), uncounted, unknown)


def _tensor(tensor: Tensor) -> dict[str, Any]:
    shape = None if tensor.dims is None else list(tensor.dims)
    found = {"name": tensor.name, "dtype": tensor.dtype, "shape": shape}
    if tensor.symbols is not None:
        found["symbolic_shape"] = [dim if isinstance(dim, int | None) else str(dim) for dim in tensor.symbols]
    return found

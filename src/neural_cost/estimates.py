"""Estimates: what a list of operations costs, or the model that an adapter reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neural_cost.analyzer.arguments import device_of
from neural_cost.analyzer.bounding import report_bound
from neural_cost.analyzer.cost import FLOPS_PER_MAC
from neural_cost.analyzer.errors import DeviceError, OptionError
from neural_cost.analyzer.formulas import Ends
from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.opened import Opened
from neural_cost.analyzer.parameters import Weight
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.records import Coverage, NodeRecord, Totals, node_record
from neural_cost.analyzer.report import Report
from neural_cost.analyzer.roofline import Bound
from neural_cost.analyzer.totals import cover, total
from neural_cost.analyzer.traffic import compulsory_bytes
from neural_cost.analyzer.walk import NodeCost
from neural_cost.operations.costs import constants_of, costs_of, weights_of
from neural_cost.operations.record import Operation

if TYPE_CHECKING:
    from neural_cost.adapters.protocol import FrameworkAdapter
    from neural_cost.analyzer.device import Device

CHAIN = (
    "operations do not say which tensors they share: each weight counts as one of its own, and compulsory traffic is "
    "the weights, what the first operation reads and what the last one writes"
)


@dataclass(frozen=True, slots=True)
class Basis:
    """What bounds are made of, under the names that a `Report` has for it.

    Attributes:
        nodes: with their costs.
        ends: weights, inputs and outputs: what is moved even where all is fused.
        device: none: an estimate is of no machine.
    """

    nodes: Sequence[NodeCost]
    ends: Ends
    device: Device | None = None


@dataclass(frozen=True, slots=True)
class Estimate(Record):
    """What operations cost.

    Attributes:
        operations: in order.
        nodes: a record for each: what it computes and moves, or why that is not known.
        totals: sums over them, each as often as it runs.
        coverage: what is left out of the sums.
        notes: what else a reader must know.
        opened: what bounds are made of.
        report: the analysis of the model's export, where there is one; its totals are these.
    """

    operations: tuple[Operation, ...]
    nodes: list[NodeRecord]
    totals: Totals
    coverage: Coverage
    notes: list[str]
    opened: Basis | Opened = field(repr=False, compare=False)
    report: Report | None = field(default=None, repr=False, compare=False)

    @property
    def complete(self) -> bool:
        """Whether the sums leave nothing out."""
        return self.totals.complete

    @property
    def macs(self) -> int:
        """Multiply-accumulates of contractions."""
        return self.totals.macs

    @property
    def flops(self) -> int:
        """All arithmetic: 2 for each MAC, and 1 for each other operation."""
        return self.totals.flops

    @property
    def parameters(self) -> int:
        """Elements of the weights."""
        return self.totals.parameters

    @property
    def parameter_bytes(self) -> int:
        """Bytes of the weights."""
        return self.totals.parameter_bytes

    @property
    def read_bytes(self) -> int:
        """Bytes that the operations read, one after another."""
        return _moved(self.opened.nodes, "read_bytes")

    @property
    def write_bytes(self) -> int:
        """Bytes that they write."""
        return _moved(self.opened.nodes, "write_bytes")

    @property
    def traffic_bytes(self) -> int:
        """Bytes read and written, nothing fused; `totals.compulsory_bytes` are those that fusion cannot save."""
        return self.totals.per_op_bytes

    @property
    def intensity(self) -> float | None:
        """FLOPs for each byte of `traffic_bytes`; None where nothing is moved."""
        return self.flops / self.traffic_bytes if self.traffic_bytes else None

    def bound(self, device: str | Device) -> Bound:
        """The times below which a device cannot do this.

        Raises:
            DeviceError: no device of that name is known.
        """
        on = device_of(device)
        if on is None:
            raise DeviceError("a bound is on a device: give one, or its name.")
        return report_bound(self, on)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, by the names of a report."""
        return {
            "convention": {"flops_per_mac": FLOPS_PER_MAC},
            "totals": self.totals.to_dict(),
            "coverage": self.coverage.to_dict(),
            "operations": [each.to_dict() for each in self.operations],
            "nodes": [each.to_dict() for each in self.nodes],
            "notes": self.notes,
        }

    def render(self) -> str:
        """The table that `print` shows."""
        return str(self)

    def __str__(self) -> str:
        """Totals and a line for each operation; of a model, the table of its report."""
        from neural_cost.analyzer.tables.text import to_text
        from neural_cost.operations.page import estimate_page

        return to_text(estimate_page(self)) if self.report is None else str(self.report)

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        from neural_cost.analyzer.tables.html import to_html
        from neural_cost.operations.page import estimate_page

        return to_html(estimate_page(self)) if self.report is None else self.report._repr_html_()


def estimate_operations(operations: Iterable[Operation]) -> Estimate:
    """Cost a list of operations, in the order in which they run.

    Raises:
        OptionError: something in it is no operation.
    """
    found = tuple(operations)
    for each in found:
        if not isinstance(each, Operation):
            raise OptionError(f"an operation is a neural_cost.Operation, not a {type(each).__name__}.")
    costs = costs_of(found)
    pairs = list(zip(costs, found, strict=True))
    weights = {tensor.name: Weight(tensor, tensor.size) for pair in pairs for tensor in weights_of(*pair)}
    ends = _ends(pairs, weights)
    moved, all_known = compulsory_bytes(costs, ends.sources, ends.outputs)
    return Estimate(
        found,
        [node_record(each, weights) for each in costs],
        total(costs, ends.weights, moved if all_known else None, None),
        cover(costs),
        [CHAIN] if len(found) > 1 else [],
        Basis(costs, ends),
    )


def estimate_model(model: Any, example_inputs: Any, adapter: FrameworkAdapter | None = None) -> Estimate:
    """Cost a model of a framework, as its adapter reads it; by default that of its framework.

    With an adapter that exports, the totals are those of `analyze` on the export.

    Raises:
        ExportError: the model is of no known framework, or cannot be exported.
        BackendError: a package is missing.
    """
    from neural_cost.adapters.exporting import adapter_of

    return (adapter or adapter_of(model, example_inputs)).estimate(model, example_inputs)


def estimate_report(report: Report) -> Estimate:
    """The estimate of a model that was analyzed."""
    from neural_cost.operations.from_report import operations_of

    return Estimate(
        tuple(operations_of(report)),
        report.nodes,
        report.totals,
        report.coverage,
        report.notes,
        report.opened,
        report,
    )


def _ends(pairs: Sequence[tuple[NodeCost, Operation]], weights: Mapping[str, Weight]) -> Ends:
    """What a chain of operations moves even where all is fused: nothing less, whatever they share."""
    constants = {tensor.name: tensor for pair in pairs for tensor in constants_of(*pair)}
    inputs: list[Tensor] = []
    outputs: list[Tensor] = []
    if pairs:
        inputs = [each for each in pairs[0][0].node.inputs if each is not None and each.name not in constants]
        outputs = [each for each in pairs[-1][0].node.outputs if each is not None]
    return Ends(list(weights.values()), inputs, constants | {each.name: each for each in inputs}, outputs)


def _moved(nodes: Iterable[NodeCost], name: str) -> int:
    known = (each for each in nodes if each.cost is not None and each.repeats)
    return sum(int(getattr(each.cost, name)) * int(each.repeats or 0) for each in known)

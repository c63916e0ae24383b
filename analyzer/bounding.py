"""Bounds of what was analyzed: of each node, and of the whole model, on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.formulas import Ends
from neural_cost.analyzer.records import NodeRecord
from neural_cost.analyzer.roofline import Bound, Work, bounds, kernel_bound
from neural_cost.analyzer.traffic import compulsory_bytes
from neural_cost.analyzer.walk import NodeCost


def node_bound(node: NodeCost, device: Device | None) -> float | None:
    """Seconds of one execution that the device cannot beat; None without a device, or where its cost is not known."""
    work = None if device is None else node_work(node)
    return None if work is None or device is None else kernel_bound(work, device).seconds


def model_bound(nodes: Sequence[NodeCost], moved: int, device: Device, groups: Sequence[Work] | None = None) -> Bound:
    """Bounds of what is known: a node without a cost, or that runs no one knows how often, only makes it slower."""
    works = [work for node in nodes if node.repeats and (work := node_work(node, node.repeats)) is not None]
    return bounds(works, moved, device, groups)


class Basis(Protocol):
    """What bounds are made of."""

    @property
    def nodes(self) -> Sequence[NodeCost]:
        """With their costs."""

    @property
    def ends(self) -> Ends:
        """Weights, inputs and outputs: what is moved even where all is fused."""

    @property
    def device(self) -> Device | None:
        """That it was analyzed for."""


class Analyzed(Protocol):
    """What was analyzed: a `Report`, an `Estimate`."""

    @property
    def nodes(self) -> Sequence[NodeRecord]:
        """A record for each node."""

    @property
    def opened(self) -> Basis:
        """What is behind them."""


def report_bound(report: Analyzed, device: Device) -> Bound:
    """The bounds of a report on any device."""
    opened = report.opened
    moved, _ = compulsory_bytes(opened.nodes, opened.ends.sources, opened.ends.outputs)
    return model_bound(opened.nodes, moved, device)


def node_work(node: NodeCost, repeats: int = 1) -> Work | None:
    """What one execution must do; None where it is not known."""
    if node.cost is None:
        return None
    return Work(node.least_flops, node.cost.traffic_bytes, repeats, node.padding_flops(integers=True))

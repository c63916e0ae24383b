"""Where gradients pass: from outputs of the graph back to the weights that are trained, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.training.links import Link
from neural_cost.analyzer.training.registry import Wants, passes
from neural_cost.analyzer.walk import NodeCost


@dataclass(frozen=True, slots=True)
class Flow:
    """Nodes that run backward, with the inputs of each that need a gradient.

    A tensor needs one if it is a trained weight, or depends on one; it gets one if an output depends on it.
    """

    nodes: Sequence[tuple[NodeCost, Wants]]


def find_flow(
    nodes: Sequence[NodeCost], trained: Iterable[Tensor], outputs: Iterable[Tensor], links: list[Link]
) -> Flow:
    """Find where gradients pass; graph inputs need none."""
    alive = [each for each in nodes if not each.constant and each.kind != "control_flow"]
    needing = _forward(alive, trained, links)
    reached = _backward(alive, needing, outputs, links)
    found = []
    for each in alive:
        if any(tensor in reached for tensor in each.node.outputs if tensor is not None):
            wants = frozenset(at for at, tensor in enumerate(each.node.inputs) if tensor in needing)
            if wants and passes(each.node.domain, each.node.op_type):
                found.append((each, wants))
    return Flow(found)


def is_real(tensor: Tensor) -> bool:
    """Whether a tensor can have a gradient: its elements are real or complex numbers, or of no known type."""
    return tensor.dtype is None or "float" in tensor.dtype or "complex" in tensor.dtype


def _forward(nodes: Sequence[NodeCost], trained: Iterable[Tensor], links: list[Link]) -> set[Tensor]:
    """Tensors that depend on trained weights."""
    found: set[Tensor] = set()
    onward = _by(links, forward=True)
    for tensor in trained:
        _add(tensor, found, onward)
    before = -1
    while len(found) != before:
        before = len(found)
        for each in nodes:
            node = each.node
            if any(tensor in found for tensor in node.inputs) and passes(node.domain, node.op_type):
                for made in node.outputs:
                    _add(made, found, onward)
    return found


def _backward(
    nodes: Sequence[NodeCost], needing: set[Tensor], outputs: Iterable[Tensor], links: list[Link]
) -> set[Tensor]:
    """Of the tensors that need a gradient those that an output depends on."""
    found: set[Tensor] = set()
    back = _by(links, forward=False)
    for tensor in outputs:
        _add(tensor, found, back, needing)
    before = -1
    while len(found) != before:
        before = len(found)
        for each in reversed(nodes):
            if any(tensor in found for tensor in each.node.outputs):
                for read in each.node.inputs:
                    _add(read, found, back, needing)
    return found


def _add(
    tensor: Tensor | None, found: set[Tensor], links: Mapping[Tensor, list[Tensor]], among: set[Tensor] | None = None
) -> None:
    """Add a tensor that can have a gradient, and all that it is under other names."""
    waiting = [tensor]
    while waiting:
        each = waiting.pop()
        if each is None or each in found or not is_real(each) or (among is not None and each not in among):
            continue
        found.add(each)
        waiting += links.get(each, [])


def _by(links: Iterable[Link], *, forward: bool) -> dict[Tensor, list[Tensor]]:
    found: dict[Tensor, list[Tensor]] = {}
    for link in links:
        source, target = (link.source, link.target) if forward else (link.target, link.source)
        found.setdefault(source, []).append(target)
    return found

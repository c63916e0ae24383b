"""Where gradients pass: from outputs of the graph back to the weights that are trained, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.training.links import Link
from neural_cost.analyzer.training.registry import Wants, open_inputs, passes, rounds
from neural_cost.analyzer.walk import NodeCost


@dataclass(frozen=True, slots=True)
class Turn:
    """A node that runs backward, and the inputs that need a gradient.

    Attributes:
        loop: of a node in the body of a loop, whose first run needs less, the node that runs the body.
        first: this is that first run; else it is all later ones.
    """

    node: NodeCost
    wants: Wants
    loop: NodeCost | None = None
    first: bool = False


def find_flow(
    nodes: Sequence[NodeCost],
    trained: Sequence[Tensor],
    outputs: Sequence[Tensor],
    links: Sequence[Link],
    loops: Mapping[str, NodeCost],
) -> list[Turn]:
    """Where gradients pass; graph inputs need none.

    A tensor needs a gradient if it is a trained weight, or depends on one; it gets one if an output depends on it. In
    the first run of a body its state is what the loop was given, which may need none: `loops` are nodes of the main
    graph by the body that they run.
    """
    alive = [each for each in nodes if not each.constant and each.kind != "control_flow"]
    later = _wants(alive, trained, outputs, links)
    if not any(link.kind == "carried" for link in links):
        return [Turn(each, wants) for each, wants in later]
    first = dict(_wants(alive, trained, outputs, [link for link in links if link.kind != "carried"], links))
    return [turn for each, wants in later for turn in _turns(each, wants, first.get(each), loops.get(each.graph))]


def _turns(node: NodeCost, wants: Wants, first: Wants | None, loop: NodeCost | None) -> list[Turn]:
    if loop is None or first == wants:
        return [Turn(node, wants)]
    later = Turn(node, wants, loop)
    return [later] if first is None else [later, Turn(node, first, loop, first=True)]


def _wants(
    nodes: Sequence[NodeCost],
    trained: Sequence[Tensor],
    outputs: Sequence[Tensor],
    links: Sequence[Link],
    back: Sequence[Link] | None = None,
) -> list[tuple[NodeCost, Wants]]:
    """Inputs that need a gradient, of each node that runs backward; `back` are links that gradients come by."""
    needing = _forward(nodes, trained, links)
    reached = _backward(nodes, needing, outputs, links if back is None else back)
    found = []
    for each in nodes:
        if any(tensor in reached for tensor in each.node.outputs if tensor is not None):
            wants = frozenset(at for at, tensor in open_inputs(each.node) if tensor in needing)
            if wants and passes(each.node.domain, each.node.op_type):
                found.append((each, wants))
    return found


def is_real(tensor: Tensor) -> bool:
    """Whether a tensor can have a gradient: its elements are real or complex numbers, or of no known type."""
    return tensor.dtype is None or "float" in tensor.dtype or "complex" in tensor.dtype


def _is_narrow(tensor: Tensor) -> bool:
    """Whether a tensor is of integers that can stand for rounded numbers: positions and sizes are of 64 bits."""
    return tensor.dtype is not None and "int" in tensor.dtype and tensor.dtype not in ("int64", "uint64")


def _forward(nodes: Sequence[NodeCost], trained: Iterable[Tensor], links: Sequence[Link]) -> set[Tensor]:
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
            given = [tensor for _, tensor in open_inputs(node) if tensor in found]
            if given and passes(node.domain, node.op_type):
                rounded = rounds(node.domain, node.op_type) or not any(map(is_real, given))
                for made in node.outputs:
                    _add(made, found, onward, rounded=rounded)
    return found


def _backward(
    nodes: Sequence[NodeCost], needing: set[Tensor], outputs: Iterable[Tensor], links: Sequence[Link]
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
                for _, read in open_inputs(each.node):
                    _add(read, found, back, needing)
    return found


def _add(
    tensor: Tensor | None,
    found: set[Tensor],
    links: Mapping[Tensor, list[Tensor]],
    among: set[Tensor] | None = None,
    *,
    rounded: bool = False,
) -> None:
    """Add a tensor that can have a gradient, and all that it is under other names.

    Such are real numbers, and integers that are rounded ones; `among` are those that are known to.
    """
    waiting = [tensor]
    while waiting:
        each = waiting.pop()
        if each is None or each in found:
            continue
        if each not in among if among is not None else not (is_real(each) or (rounded and _is_narrow(each))):
            continue
        found.add(each)
        waiting += links.get(each, [])


def _by(links: Iterable[Link], *, forward: bool) -> dict[Tensor, list[Tensor]]:
    found: dict[Tensor, list[Tensor]] = {}
    for link in links:
        source, target = (link.source, link.target) if forward else (link.target, link.source)
        found.setdefault(source, []).append(target)
    return found

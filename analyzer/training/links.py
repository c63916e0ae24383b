"""How tensors of a body are tied to those of the node that runs it: a gradient passes from one to the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from neural_cost.analyzer.engine import Body
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.views import Views
from neural_cost.analyzer.walk import NodeCost, Walk

Ends = Sequence["Tensor | None"]


class Link(NamedTuple):
    """A value that goes on under another name.

    Attributes:
        kind: "in" and "out" of a body; "carried" from one run of it to the next; "slice" of what a Scan goes through.
    """

    source: Tensor
    target: Tensor
    kind: str


def links(walk: Walk) -> list[Link]:
    """All links of a model."""
    found = (link for cost, bodies in walk.bodies for body in bodies for link in _of(cost, body, walk.views))
    return list(found)


def loops(walk: Walk) -> dict[str, NodeCost]:
    """Nodes of the main graph that run a body, by the path of the body."""
    return {
        f"{cost.graph}/{cost.node.name}/{body.name}": cost
        for cost, bodies in walk.bodies
        for body in bodies
        if cost.graph == "main"
    }


def _of(cost: NodeCost, body: Body, views: Views) -> Iterator[Link]:
    node = cost.node
    inputs = [views.tensor(value) for value in body.graph.inputs]
    outputs = [views.tensor(value) for value in body.graph.outputs]
    if node.op_type == "If":
        yield from _pairs(outputs, node.outputs, "out")
    elif node.op_type == "Loop":
        yield from _pairs(node.inputs[2:], inputs[2:], "in")
        yield from _pairs(outputs[1:], inputs[2:], "carried")
        yield from _pairs(outputs[1:], node.outputs, "out")
    elif node.op_type == "Scan":
        yield from _scan(node, inputs, outputs)
    else:
        yield from _pairs(node.inputs, inputs, "in")
        yield from _pairs(outputs, node.outputs, "out")


def _scan(node: Node, inputs: Ends, outputs: Ends) -> Iterator[Link]:
    read = list(node.inputs)[1:] if node.version < 9 else list(node.inputs)  # before opset 9 lengths come first
    states = len(inputs) - node.attr("num_scan_inputs", 0)
    yield from _pairs(read[:states], inputs[:states], "in")
    yield from _pairs(outputs[:states], inputs[:states], "carried")
    yield from _pairs(read[states:], inputs[states:], "slice")
    yield from _pairs(outputs, node.outputs, "out")


def _pairs(sources: Iterable[Tensor | None], targets: Iterable[Tensor | None], kind: str) -> Iterator[Link]:
    for source, target in zip(sources, targets, strict=False):
        if source is not None and target is not None:
            yield Link(source, target, kind)

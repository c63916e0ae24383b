"""Every node visited once: its cost, or the reason why that is not known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from neural_cost.analyzer.cost import NOTHING, Cost
from neural_cost.analyzer.load import Model
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.registry import lookup
from neural_cost.analyzer.shapes import Inference


@dataclass(frozen=True, slots=True)
class NodeCost:
    """A node with its cost; `cost` is None where it is not known, and `why` says why."""

    index: int
    node: Node
    scope: str
    kind: str
    graph: str
    constant: bool
    cost: Cost | None
    why: str | None
    uncounted: bool


def walk(model: Model, inference: Inference) -> list[NodeCost]:
    """Cost every node of the main graph, and of the branches that are taken."""
    return list(_walk(model, inference, model.ir.graph, "main"))


def _walk(model: Model, inference: Inference, graph: ir.Graph, name: str) -> Iterator[NodeCost]:
    for position, node in enumerate(graph):
        index = model.file_index.get(node, position)
        yield _cost(model, inference, node, index, name)
        if node in inference.taken:
            yield from _walk(model, inference, inference.taken[node], f"{name}/{node.name or index}")


def _cost(model: Model, inference: Inference, node: ir.Node, index: int, graph: str) -> NodeCost:
    view = _view(model, inference, node, index)
    constant = all(value in inference.constant for value in node.outputs)
    rule = lookup(view.domain, view.op_type, view.version)
    kind = rule.kind if rule else "unknown"
    cost, why = _apply(view, rule.function if rule else None, constant, node in inference.taken)
    uncounted = cost is None and rule is None
    return NodeCost(index, view, scope_of(node), kind, graph, constant, cost, why, uncounted)


def _apply(view: Node, function: Any, constant: bool, taken: bool) -> tuple[Cost | None, str | None]:
    if constant or taken:
        return NOTHING, None
    if function is None:
        return None, f"there is no cost rule for {view.domain or 'ai.onnx'}::{view.op_type}"
    try:
        return function(view), None
    except Unknown as unknown:
        return None, f'"{unknown.tensor}": {unknown.why}' if unknown.tensor else unknown.why
    except (IndexError, TypeError, ValueError, KeyError, ZeroDivisionError) as error:
        return None, f"the node does not have the form that {view.op_type} requires ({error})"


def _view(model: Model, inference: Inference, node: ir.Node, index: int) -> Node:
    domain = "" if node.domain == "ai.onnx" else node.domain
    return Node(
        node.op_type,
        _trimmed([inference.tensor(value) for value in node.inputs]),
        _trimmed([inference.tensor(value) for value in node.outputs]),
        {name: _plain(attr) for name, attr in node.attributes.items()},
        node.name or str(index),
        domain,
        model.ir.opset_imports.get(domain, 1),
    )


def _plain(attr: ir.Attr) -> Any:
    if attr.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS, ir.AttributeType.TENSOR):
        return attr.value
    return list(attr.value) if isinstance(attr.value, tuple) else attr.value


def _trimmed(tensors: list[Tensor | None]) -> list[Tensor | None]:
    while tensors and tensors[-1] is None:
        tensors.pop()
    return tensors


def scope_of(node: ir.Node) -> str:
    """Module that a node belongs to: torch's name scopes, else its name up to the last separator."""
    scopes = node.metadata_props.get("pkg.torch.onnx.name_scopes")
    if scopes:
        parts = [part.strip(" '\"") for part in scopes.strip("[]").split(",")]
        inner = [part for part in parts if part]
        return inner[-2].replace(".", "/") if len(inner) > 1 else ""
    name = (node.name or "").strip("/")
    separator = "/" if "/" in name else "."
    return name.rpartition(separator)[0].replace(".", "/")

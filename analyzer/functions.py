"""Model-local functions: calls are replaced by bodies, and each node remembers the calls that it came through."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir
from onnx_ir.passes.common import InlinePass

MAX_INLINED_NODES = 2_000_000  # functions that call functions grow exponentially: a small file may not fill memory
CALL = "neural_cost.call:"  # metadata of a call, which the nodes of its body inherit, outer calls first

Key = tuple[str, str, str]


def inline_functions(model: ir.Model) -> None:
    """Replace calls by the bodies of their functions, so that one walk sees every node.

    Raises:
        ValueError: functions call each other in a circle, or too often.
    """
    if not model.functions:
        return
    if _inlined_size(model) > MAX_INLINED_NODES:
        raise ValueError(f"they call each other more than {MAX_INLINED_NODES:,} times over, or in a circle")
    _name_calls(model)
    InlinePass()(model)


def calls_of(node: ir.Node) -> list[tuple[str, str]]:
    """The calls that a node came through, outermost first: function and name of the calling node."""
    return [(key.removeprefix(CALL), site) for key, site in node.metadata_props.items() if key.startswith(CALL)]


def function_name(domain: str, name: str) -> str:
    """A function's name with its domain, as an operator's is written."""
    return f"{domain}::{name}" if domain else name


def _name_calls(model: ir.Model) -> None:
    for graph in (model.graph, *(function.graph for function in model.functions.values())):
        for index, node in enumerate(graph.all_nodes()):
            if node.op_identifier() in model.functions:
                name = function_name(node.domain, node.op_type)
                node.metadata_props[CALL + name] = node.name or f"{node.op_type}_{index}"


def _inlined_size(model: ir.Model) -> int:
    """Nodes after inlining; a circle among functions is answered as too many."""
    sizes: dict[Key, int] = {}
    todo = {
        key: [node.op_identifier() for node in function.graph.all_nodes()] for key, function in model.functions.items()
    }
    while todo:
        ready = [key for key, called in todo.items() if not any(each in todo for each in called)]
        if not ready:
            return MAX_INLINED_NODES + 1
        for key in ready:
            sizes[key] = sum(sizes.get(called, 1) for called in todo.pop(key))
    return sum(sizes.get(called, 1) for called in _called(model.graph))


def _called(graph: ir.Graph) -> Iterator[Key]:
    for node in graph.all_nodes():
        yield node.op_identifier()

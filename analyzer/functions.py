"""Model-local functions: calls are replaced by bodies, and each node remembers the calls that it came through."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import onnx_ir as ir

from neural_cost.analyzer.inline import Key, inline, inner_graphs

# Functions that call functions grow exponentially: a small file may not fill memory. A node takes some 5 KB.
MAX_INLINED_NODES = 50_000  # calls counted too; or, where that is more, `GROWTH` times the nodes of the file
GROWTH = 100
MAX_DEPTH = 64  # bodies within bodies and calls within calls, together
CALL = "neural_cost.call:"  # metadata of a call, which the nodes of its body inherit, outer calls first


def inline_functions(model: ir.Model) -> None:
    """Replace calls by the bodies of their functions, so that one walk sees every node.

    Raises:
        ValueError: functions call each other in a circle, too often, or are nested too deep.
    """
    if not model.functions:  # then protobuf's own limit holds, some 30 bodies
        return
    _check_growth(model)
    _name_calls(model)
    inline(model)


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


def _check_growth(model: ir.Model) -> None:
    """Refuse what would become too large or too deep, before it does."""
    called = {key: list(_nodes(function.graph)) for key, function in model.functions.items()}
    main = list(_nodes(model.graph))
    try:
        order = list(
            TopologicalSorter({key: {each for each, _ in nodes} for key, nodes in called.items()}).static_order()
        )
    except CycleError as error:
        raise ValueError("they call each other in a circle") from error
    sizes: dict[Key, int] = {}
    depths: dict[Key, int] = {}
    for key in (key for key in order if key in called):
        sizes[key], depths[key] = _grown(called[key], sizes, depths)
    size, depth = _grown(main, sizes, depths)
    limit = max(MAX_INLINED_NODES, GROWTH * (len(main) + sum(map(len, called.values()))))
    if size > limit:
        raise ValueError(f"they call each other more than {limit:,} times over")
    if depth > MAX_DEPTH:
        raise ValueError(f"calls and bodies are nested deeper than {MAX_DEPTH}")


def _grown(nodes: list[tuple[Key, int]], sizes: dict[Key, int], depths: dict[Key, int]) -> tuple[int, int]:
    """Nodes of a body once all its calls are replaced, the calls among them, and how deep the deepest stands in it."""
    return (
        len(nodes) + sum(sizes.get(key, 0) for key, _ in nodes),
        max((depth + depths.get(key, 0) for key, depth in nodes), default=0),
    )


def _nodes(graph: ir.Graph) -> Iterator[tuple[Key, int]]:
    """Every node's operator, and how deep it stands: 1 in the graph itself."""
    todo = [(graph, 1)]
    while todo:
        current, depth = todo.pop()
        for node in current:
            yield node.op_identifier(), depth
            todo += [(inner, depth + 1) for inner in inner_graphs(node)]

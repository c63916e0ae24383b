"""A copy of a model in which every node has a name of its own: a profile knows nodes by nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import onnx


def with_names(file: Path) -> bytes | None:
    """The bytes of such a copy; None where the model needs none."""
    model = onnx.load(file, load_external_data=False)
    return bytes(model.SerializeToString()) if name_nodes(model) else None


def names_given(copy: bytes) -> dict[tuple[str, ...], str]:
    """Names of the nodes of such a copy by what they make; those that another in the model makes too are left out."""
    nodes = list(_nodes(onnx.load_from_string(copy).graph))
    made = Counter(tuple(filter(None, node.output)) for node in nodes)
    named = {tuple(filter(None, node.output)): node.name for node in nodes}
    return {outputs: name for outputs, name in named.items() if made[outputs] == 1}


def name_nodes(model: onnx.ModelProto) -> bool:
    """Give a name to each node that has none, or that of another; whether there was such a node.

    Nodes of functions get one too: ONNX Runtime makes another of it for each call.
    """
    nodes = [node for graph in (model.graph, *model.functions) for node in _nodes(graph)]
    names = [node.name for node in nodes]
    if all(names) and len(set(names)) == len(names):
        return False
    taken = set(names)
    seen: set[str] = set()
    for number, node in enumerate(nodes):
        if not node.name or node.name in seen:
            node.name = _free(f"{node.name or node.op_type}_{number}", taken)
            taken.add(node.name)
        seen.add(node.name)
    return True


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _nodes(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.NodeProto]:
    """Nodes of a graph or a function, and of the bodies in it."""
    waiting: list[onnx.GraphProto | onnx.FunctionProto] = [graph]
    while waiting:
        for node in waiting.pop().node:
            yield node
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    waiting.append(attribute.g)
                elif attribute.type == onnx.AttributeProto.GRAPHS:
                    waiting.extend(attribute.graphs)

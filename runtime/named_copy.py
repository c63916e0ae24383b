"""A copy of a model in which every node has a name of its own: a profile knows nodes by nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx


def with_names(file: Path) -> bytes | None:
    """The bytes of such a copy; None where the model needs none."""
    model = onnx.load(file, load_external_data=False)
    nodes = list(_nodes(model.graph))
    names = [node.name for node in nodes]
    if all(names) and len(set(names)) == len(names):
        return None
    taken = set(names)
    seen: set[str] = set()
    for number, node in enumerate(nodes):
        if not node.name or node.name in seen:
            node.name = _free(f"{node.name or node.op_type}_{number}", taken)
            taken.add(node.name)
        seen.add(node.name)
    return bytes(model.SerializeToString())


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Nodes of a graph and of the bodies in it."""
    waiting = [graph]
    while waiting:
        for node in waiting.pop().node:
            yield node
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.GRAPH:
                    waiting.append(attribute.g)
                elif attribute.type == onnx.AttributeProto.GRAPHS:
                    waiting.extend(attribute.graphs)

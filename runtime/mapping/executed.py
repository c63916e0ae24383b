"""The graph that ONNX Runtime runs, as it saves it after its rewrites: nodes, and the tensors between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import onnx

NCHWC = "com.microsoft.nchwc"
# what changes where elements lie or how they are written, and not what they say
LAYOUT_OPS = frozenset(
    {
        "Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Dropout", "Cast", "ReorderInput",
        "ReorderOutput", "MemcpyFromHost", "MemcpyToHost", "QuantizeLinear", "DequantizeLinear",
    }
)  # fmt: skip
# what takes elements or puts them together, and computes nothing
MOVERS = frozenset({"Concat", "Expand", "Gather", "Pad", "Slice", "Split", "Tile"})
# what is the same for nodes that move or convert in the same way
Moves: TypeAlias = "tuple[str, Any]"


@dataclass(frozen=True, eq=False)
class ExecutedNode:
    """A kernel. `inputs` leaves out what is constant: initializers of its graph and of those around it."""

    name: str
    op_type: str
    domain: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    activation: str = ""
    sums: str = ""  # the input that a convolution adds to its result
    bodies: Mapping[str, ExecutedGraph] = field(default_factory=dict)
    moves: Moves | None = None
    channels_last: bool = False  # a reorder that puts them there, or takes them from there

    @property
    def is_layout(self) -> bool:
        """Whether it only moves what it gets, or converts its type."""
        return self.op_type in LAYOUT_OPS


@dataclass(frozen=True, eq=False)
class ExecutedGraph:
    """Nodes in the order of the file, which is one that they can run in."""

    nodes: Sequence[ExecutedNode]
    inputs: Sequence[str]
    outputs: Sequence[str]

    @property
    def tensors(self) -> set[str]:
        """Names of all that it reads or makes."""
        return {*self.inputs, *(name for node in self.nodes for name in (*node.inputs, *node.outputs))}

    def runs_if(self, outputs: Sequence[str]) -> bool:
        """Whether an If runs that makes these, and no branch stands in its place."""
        wanted = set(outputs)
        return any(node.op_type == "If" and not wanted.isdisjoint(node.outputs) for node in self.nodes)


def moves(op_type: str, attributes: Mapping[str, Any]) -> Moves | None:
    """How a Transpose or a Cast moves or converts; None for others, and where it is not told."""
    if op_type == "Transpose":
        axes = tuple(attributes.get("perm") or ())
        return op_type, () if axes == tuple(reversed(range(len(axes)))) else axes
    return (op_type, attributes["to"]) if op_type == "Cast" and "to" in attributes else None


def executed_graph(graph: onnx.GraphProto, constants: frozenset[str] = frozenset()) -> ExecutedGraph:
    """Read a graph; `constants` are those of the graphs around it."""
    held = constants | {tensor.name for tensor in graph.initializer}
    held |= {tensor.values.name for tensor in graph.sparse_initializer}
    return ExecutedGraph(
        [_node(node, held) for node in graph.node],
        [value.name for value in graph.input if value.name not in held],
        [value.name for value in graph.output],
    )


def _node(node: onnx.NodeProto, constants: frozenset[str]) -> ExecutedNode:
    attributes = {attribute.name: attribute for attribute in node.attribute}
    activation = attributes["activation"].s.decode() if "activation" in attributes else ""
    bodies = {
        name: executed_graph(attribute.g, constants)
        for name, attribute in attributes.items()
        if attribute.type == onnx.AttributeProto.GRAPH
    }
    adds = node.op_type in ("Conv", "FusedConv") and len(node.input) > 3
    return ExecutedNode(
        node.name,
        node.op_type,
        node.domain,
        [name for name in node.input if name and name not in constants],
        [name for name in node.output if name],
        activation,
        node.input[3] if adds else "",
        bodies,
        moves(node.op_type, {name: onnx.helper.get_attribute_value(attributes[name]) for name in _told(attributes)}),
        "channels_last" in attributes and attributes["channels_last"].i == 1,
    )


def _told(attributes: Iterable[str]) -> list[str]:
    return [name for name in attributes if name in ("perm", "to")]

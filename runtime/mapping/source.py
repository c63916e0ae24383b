"""The graph of the file, as a report has it: who makes a tensor, who reads it, and which tensors hold the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from neural_cost.analyzer.records import NodeRecord
from neural_cost.runtime.mapping.executed import LAYOUT_OPS, Moves, moves


@dataclass(frozen=True, eq=False)
class SourceNode:
    """A node of the file. `place` is where it stands in the report's list; `inputs` leaves out constants."""

    place: int
    name: str
    op_type: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    constant: bool
    same: str  # equal for nodes that do the same to what they read
    graph: str = "main"  # the path of what holds it
    label: str = ""  # its name in the file, which the paths of its bodies have in them
    runs: bool = True  # it is counted: it is in no branch that is not taken
    moves: Moves | None = None

    @property
    def is_layout(self) -> bool:
        """Whether it only moves what it gets, or converts its type."""
        return self.op_type in LAYOUT_OPS


class SourceGraph:
    """The nodes of one graph: the main one or a body."""

    def __init__(self, nodes: Sequence[SourceNode], kept: Iterable[str]) -> None:
        """`kept` are names that the runtime still has: a tensor equal to another is looked up there if it is not."""
        self.nodes = nodes
        self.producers = {name: node for node in nodes for name in node.outputs}
        self.by_name = {node.name: node for node in nodes if node.name}
        self._kept = frozenset(kept)
        self._roots: dict[str, str] = {}

    @cached_property
    def consumers(self) -> dict[str, list[SourceNode]]:
        """Nodes that read a tensor."""
        found: dict[str, list[SourceNode]] = defaultdict(list)
        for node in self.nodes:
            for name in dict.fromkeys(node.inputs):
                found[name].append(node)
        return found

    @cached_property
    def twins(self) -> dict[str, str]:
        """Tensors that the runtime does not make, as it makes the same under another name."""
        made: dict[tuple[str, tuple[str, ...]], SourceNode] = {}
        found: dict[str, str] = {}
        for node in self.nodes:
            first = made.setdefault((node.same, tuple(found.get(name, name) for name in node.inputs)), node)
            if first is not node and not self._kept.intersection(node.outputs):
                found.update(zip(node.outputs, first.outputs, strict=False))
        return found

    def first_of(self, tensor: str) -> str:
        """The tensor that the runtime makes in place of one that holds the same; mostly itself."""
        return self.twins.get(tensor, tensor)

    def root(self, tensor: str) -> str:
        """The tensor that holds the same before it was moved or its type was converted."""
        path = []
        while tensor not in self._roots:
            path.append(tensor)
            node = self.producers.get(self.first_of(tensor))
            if node is None or not node.is_layout or not node.inputs:
                self._roots[tensor] = tensor
                break
            tensor = node.inputs[0]
        for name in path:
            self._roots[name] = self._roots[tensor]
        return self._roots[tensor]


def source_nodes(
    records: Sequence[NodeRecord], given: Mapping[tuple[str, ...], str] | None = None
) -> dict[str, list[SourceNode]]:
    """Nodes of a report by the graph that holds them; `given` are other names that the runtime got, by outputs."""
    found: dict[str, list[SourceNode]] = defaultdict(list)
    for place, record in enumerate(records):
        found[record.graph].append(_node(place, record, given or {}))
    return found


def _node(place: int, record: NodeRecord, given: Mapping[tuple[str, ...], str]) -> SourceNode:
    node = record.source.node
    outer = [tensor.name for tensor in node.inputs if tensor is not None and not tensor.constant]
    attributes = sorted((name, repr(value)) for name, value in node.attributes.items())
    constants = [tensor.name for tensor in node.inputs if tensor is not None and tensor.constant]
    outputs = [tensor.name for tensor in node.outputs if tensor is not None]
    return SourceNode(
        place,
        given.get(tuple(outputs), record.name),
        record.op_type,
        outer,
        outputs,
        record.constant,
        f"{record.domain}::{record.op_type} {attributes} {constants}",
        record.graph,
        record.name,
        record.repeats != 0,
        moves(record.op_type, node.attributes),
    )

"""The graph as fusion sees it: who makes a tensor, who reads it, and what is asked for from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from neural_cost.analyzer.fusion.open_shapes import OpenDims
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.walk import NodeCost

STANDARD = ("", "ai.onnx")
DROPPED = ("Identity", "Dropout", "Cast")  # where they change nothing


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that one kernel does.

    Attributes:
        places: in the report's list of nodes, in rising order.
        anchor: the place of the node that says which kernel it is.
        kernel: the operator that the runtime makes of it, as "SkipLayerNormalization"; that of the anchor where it is
            not changed.
    """

    places: tuple[int, ...]
    anchor: int
    kernel: str


@dataclass(frozen=True, eq=False)
class FusionGraph:
    """All nodes of a report; those of bodies too, whose tensors have names of their own.

    Attributes:
        returned: names of the tensors that the model and its bodies return.
        is_open: the file leaves sizes open, whatever they are in this report: the runtime does not know them.
        block: channels that the runtime packs together in convolutions, 0 where it does not; None where that is not
            known: then a convolution is taken to fuse what any may.
        shapes: what the runtime knows of them before a run; None where it knows all that the report does.
    """

    nodes: Sequence[NodeCost]
    returned: frozenset[str]
    is_open: bool = False
    block: int | None = None
    shapes: Mapping[str, OpenDims] | None = None

    @cached_property
    def dropped(self) -> dict[int, int]:
        """Nodes that change nothing, which the runtime leaves out, with the first node that reads what they hand on."""
        found: dict[int, int] = {}
        for place in reversed(range(len(self.nodes))):
            made = self.node(place).output(0)
            reader = None if made is None or made.name in self.returned else self._first_reader.get(made.name)
            if reader is None or self.nodes[reader].graph != self.nodes[place].graph:
                continue
            if self._changes_nothing(place):
                found[place] = found.get(reader, reader)
        return found

    @cached_property
    def _first_reader(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for place, node in enumerate(self.nodes):
            for tensor in node.node.inputs:
                if tensor is not None:
                    found.setdefault(tensor.name, place)
        return found

    def _changes_nothing(self, place: int) -> bool:
        node = self.node(place)
        more = [tensor.name for tensor in node.outputs[1:] if tensor is not None]
        if self.op(place) not in DROPPED or not self.runs(place) or any(n in self._first_reader for n in more):
            return False
        given, made = node.input(0), node.output(0)
        alike = given is not None and made is not None and given.dtype == made.dtype
        trains = node.op_type == "Dropout" and node.input(2) is not None
        return alike and not trains

    @cached_property
    def _handed_on(self) -> dict[str, str]:
        """The tensor behind what a dropped node hands on."""
        found: dict[str, str] = {}
        for place in sorted(self.dropped):
            given, made = self.node(place).input(0), self.node(place).output(0)
            assert given is not None
            assert made is not None
            found[made.name] = found.get(given.name, given.name)
        return found

    def source(self, name: str) -> str:
        """The tensor that a name stands for, without the nodes that change nothing."""
        return self._handed_on.get(name, name)

    @cached_property
    def readers(self) -> dict[str, set[int]]:
        """Places of the nodes that read a tensor; -1 is who asked for it from outside."""
        found: dict[str, set[int]] = {name: {-1} for name in self.returned}
        for place, node in enumerate(self.nodes):
            for tensor in node.node.inputs if place not in self.dropped else ():
                if tensor is not None:
                    found.setdefault(self.source(tensor.name), set()).add(place)
        return found

    @cached_property
    def writers(self) -> dict[str, int]:
        """The place of the node that writes a tensor."""
        return {t.name: place for place, each in enumerate(self.nodes) for t in each.node.outputs if t is not None}

    def node(self, place: int) -> Node:
        """The node at a place."""
        return self.nodes[place].node

    def op(self, place: int) -> str:
        """Its operator; with the domain before it where that is not the standard's."""
        node = self.node(place)
        return node.op_type if node.domain in STANDARD else f"{node.domain}::{node.op_type}"

    def runs(self, place: int) -> bool:
        """Whether it runs with the model."""
        return not self.nodes[place].constant and self.nodes[place].repeats != 0

    def next(self, place: int) -> int | None:
        """The one node that reads its one output, in the same graph; None where others do, or nobody."""
        outputs = [tensor for tensor in self.node(place).outputs if tensor is not None]
        readers = {reader for tensor in outputs for reader in self.readers.get(tensor.name, ())}
        if len(readers) != 1 or -1 in readers:
            return None
        (reader,) = readers
        return reader if self.nodes[reader].graph == self.nodes[place].graph else None

    def before(self, place: int, index: int) -> int | None:
        """The node that makes an input, in the same graph, and that runs with the model; None where there is none."""
        tensor = self.node(place).input(index)
        writer = None if tensor is None else self.writers.get(self.source(tensor.name))
        if writer is None or not self.runs(writer) or self.nodes[writer].graph != self.nodes[place].graph:
            return None
        return writer

    def before_alone(self, place: int, index: int) -> int | None:
        """The same where nobody else reads what it makes."""
        writer = self.before(place, index)
        return writer if writer is not None and self.next(writer) == place else None

    def activations(self, place: int) -> list[Tensor]:
        """Inputs that are no constants."""
        return [tensor for tensor in self.node(place).inputs if tensor is not None and not tensor.constant]

    def same_before_a_run(self, one: Tensor, other: Tensor) -> bool:
        """Whether the runtime knows, before a run, that two tensors have the same shape."""
        if self.shapes is None or not same_shape(one, other):
            return same_shape(one, other)
        known = self.shapes.get(one.name)
        return known is not None and None not in known and known == self.shapes.get(other.name)

    def places(self) -> Iterator[int]:
        """Of all nodes that run with the model and change something."""
        return (place for place in range(len(self.nodes)) if self.runs(place) and place not in self.dropped)


def same_shape(one: Tensor, other: Tensor) -> bool:
    """Whether both have the same sizes, all known."""
    return one.dims is not None and None not in one.dims and one.dims == other.dims


def is_scalar(tensor: Tensor | None) -> bool:
    """Whether it is a constant of one element."""
    return tensor is not None and tensor.constant and tensor.dims is not None and all(dim == 1 for dim in tensor.dims)

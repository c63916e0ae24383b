"""Slices, or Gathers of one row each, that take all of a tensor apart: one Split; and a Gather of a transposed row."""

from __future__ import annotations

from typing import NamedTuple

from neural_cost.analyzer.fusion.graph import FusionGraph, Group
from neural_cost.analyzer.node import Tensor


class Part(NamedTuple):
    """Rows of an axis that a node takes."""

    axis: int
    start: int
    end: int


def split(graph: FusionGraph, place: int) -> Group | None:
    """All nodes that read one tensor, where each takes a part of one axis and the parts are all of it."""
    x = graph.node(place).input(0)
    if x is None or x.constant or x.dims is None:
        return None
    members = sorted(reader for reader in graph.readers.get(graph.source(x.name), ()) if reader >= 0)
    if len(members) < 2 or members[0] != place or {graph.op(each) for each in members} != {graph.op(place)}:
        return None
    found = [_part(graph, each) for each in members]
    parts = sorted(part for part in found if part is not None)
    if len(parts) < len(members) or len({part.axis for part in parts}) > 1:
        return None
    ends = [0, *(part.end for part in parts)]
    whole = all(part.start == end for part, end in zip(parts, ends, strict=False))
    return Group(tuple(members), place, "Split") if whole and ends[-1] == x.dims[parts[0].axis] else None


def transposed_row(graph: FusionGraph, place: int) -> Group | None:
    """A Gather of one row of what a Transpose makes for it alone: the row is taken first."""
    before, index = graph.before_alone(place, 0), graph.node(place).input(1)
    if before is None or graph.op(before) != "Transpose" or index is None or index.dims != ():
        return None
    return Group((before, place), place, "Gather")


def _part(graph: FusionGraph, place: int) -> Part | None:
    """The rows that a node takes; None where they are not known before a run, or are of more than one axis."""
    node = graph.node(place)
    x = node.input(0)
    rank = 0 if x is None or x.dims is None else len(x.dims)
    if not rank or x is None or x.dims is None:
        return None
    if graph.op(place) == "Gather":
        axis, row = node.attr("axis", 0) % rank, _single(node.input(1))
        size = x.dims[axis]
        if row is None or not isinstance(size, int) or (node.input(1) or x).dims != ():
            return None
        return Part(axis, row % size, row % size + 1)
    start, end, axis_, step = (_single(node.input(index)) for index in (1, 2, 3, 4))
    if start is None or end is None or axis_ is None or (node.input(4) is not None and step != 1):
        return None
    size = x.dims[axis_ % rank]
    if not isinstance(size, int):
        return None
    start, end, _ = slice(start, end).indices(size)
    return Part(axis_ % rank, start, end)


def _single(tensor: Tensor | None) -> int | None:
    """The one element of a constant."""
    if tensor is None or tensor.value is None or not tensor.constant or tensor.value.size != 1:
        return None
    return int(tensor.value.flatten()[0])

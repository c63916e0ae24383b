"""Fusion groups of a model: every node that runs is in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from neural_cost.analyzer.fusion.graph import FusionGraph, Group
from neural_cost.analyzer.fusion.open_shapes import open_shapes
from neural_cost.analyzer.fusion.patterns import PATTERNS, Pattern
from neural_cost.analyzer.fusion.splits import split, transposed_row
from neural_cost.analyzer.fusion.written_out import gelu_by_erf, gelu_by_tanh, layer_normalization
from neural_cost.analyzer.node import Node, text_of
from neural_cost.analyzer.walk import NodeCost

if TYPE_CHECKING:
    from neural_cost.analyzer.opened import Opened
    from neural_cost.analyzer.records import ModelInfo

# Patterns of many nodes come first, as others would take single ones of them.
FIRST: Mapping[str, Sequence[Pattern]] = {
    "ReduceMean": (layer_normalization,),
    "Erf": (gelu_by_erf,),
    "Tanh": (gelu_by_tanh,),
    "Slice": (split,),
    "Gather": (split, transposed_row),
}
Key: TypeAlias = tuple[str, str, tuple[str, ...], int]  # graph, operator, inputs, outputs
RANDOM = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial")


class Analyzed(Protocol):
    """What was analyzed: a `Report`."""

    @property
    def model(self) -> ModelInfo:
        """The file."""

    @property
    def opened(self) -> Opened:
        """What is behind the records."""


def fusion_graph(report: Analyzed, block: int | None = None) -> FusionGraph:
    """The graph of a report, as fusion sees it."""
    is_open = bool(report.model.dims)
    shapes = open_shapes(Path(report.model.path)) if is_open else None
    return FusionGraph(report.opened.nodes, frozenset(report.opened.returned), is_open, block, shapes)


def fusion_groups(graph: FusionGraph) -> list[Group]:
    """Groups in the order of their last nodes; nodes that are constant or that never run are in none."""
    twins = _twins(graph)
    taken: dict[int, Group] = {}
    for patterns in (FIRST, PATTERNS):
        for place in graph.places():
            for pattern in patterns.get(graph.op(place), ()):
                found = pattern(graph, place) if place not in taken and place not in twins else None
                if found is not None and not any(each in taken or each in twins for each in found.places):
                    taken.update(dict.fromkeys(found.places, found))
    for place in graph.places():
        if place not in taken and place not in twins:
            taken[place] = Group((place,), place, graph.op(place))
    _join(taken, twins)
    _join(taken, graph.dropped)
    return sorted(dict.fromkeys(taken.values()), key=lambda group: group.places[-1])


def _join(taken: dict[int, Group], others: dict[int, int]) -> None:
    """Put nodes into the groups of others: those that make the same, those that change nothing."""
    joined: dict[Group, list[int]] = {}
    for place, first in others.items():
        if first in taken:
            joined.setdefault(taken[first], []).append(place)
        else:  # it reads what only constants or a branch that is not counted read
            taken[place] = Group((place,), place, "")
    for old, places in joined.items():
        new = Group(tuple(sorted({*old.places, *places})), old.anchor, old.kernel)
        taken.update(dict.fromkeys(new.places, new))


def _twins(graph: FusionGraph) -> dict[int, int]:
    """Nodes that do the same to the same tensors as one before them, which the runtime then computes once."""
    made: dict[Key, int] = {}
    texts: dict[Key, dict[str, int]] = {}  # attributes are only looked at where all else is alike
    same: dict[str, str] = {}
    found: dict[int, int] = {}
    for place, each in enumerate(graph.nodes):
        node = each.node
        if filled := _filled(node) if each.constant else {}:
            same.update(filled)
            continue
        if place in graph.dropped or each.repeats == 0 or _differs_each_time(each):
            continue
        names = tuple("" if t is None else same.get(source := graph.source(t.name), source) for t in node.inputs)
        key = (each.graph, graph.op(place), names, len(node.outputs))
        alike = made.setdefault(key, place)
        if alike == place:
            continue
        first = texts.setdefault(key, {_text(graph, alike): alike}).setdefault(_text(graph, place), place)
        if first == place or _is_returned(graph, place):
            continue
        if not each.constant:  # those are no kernels; what is made of equal ones is equal
            found[place] = first
        pairs = zip(node.outputs, graph.node(first).outputs, strict=True)
        same.update({one.name: other.name for one, other in pairs if one is not None and other is not None})
    return found


def _differs_each_time(each: NodeCost) -> bool:
    """Or is not looked into: control flow, and constants that stand as they are."""
    return each.kind == "control_flow" or each.node.op_type in (*RANDOM, "Constant")


def _text(graph: FusionGraph, place: int) -> str:
    """The attributes, to tell whether two are alike."""
    return str([(name, text_of(value)) for name, value in sorted(graph.node(place).attributes.items())])


def _filled(node: Node) -> dict[str, str]:
    """The name that all constants have that are of one shape and filled with one value."""
    made, value = node.output(0), node.attr("value")
    if node.op_type != "ConstantOfShape" or made is None or made.dims is None or None in made.dims:
        return {}
    try:
        filled = None if value is None else value.tobytes()
    except (AttributeError, ValueError):  # it is no tensor, or its data has another size than its shape
        return {}
    return {made.name: f"{made.dims} of {made.dtype} {filled!r}"}


def _is_returned(graph: FusionGraph, place: int) -> bool:
    return any(t is not None and -1 in graph.readers.get(t.name, ()) for t in graph.node(place).outputs)

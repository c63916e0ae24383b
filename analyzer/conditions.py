"""Where formulas hold: what must be true of the open dimensions for the shapes of a graph to fit each other.

Each node's shapes, as expressions, are judged at numbers by the same checks that shape inference uses: windows fit
into their inputs, operands broadcast, inner dimensions are equal. A check that holds wherever it is tried is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import onnx_ir as ir

from neural_cost.analyzer.expressions import Formula
from neural_cost.analyzer.node import Dims, text_of
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.shape_checks import contradiction
from neural_cost.analyzer.views import Symbols

LARGE = 2**24
TRIED = (1, 2, 7, 1009, LARGE)  # sizes at which a check is tried: small, odd, prime and large
INSIDE = (2, 3, 5, 8, 17, 33, 64, 100, 127, 500, 1009, 4096, 99_991)  # sizes that tell whether a range has gaps
HIGHEST = 2**31  # a range that holds up to here has no end


@dataclass(frozen=True, slots=True)
class Range(Record):
    """Sizes of one dimension at which the graph fits, the others as they are.

    Attributes:
        least, most: both within it; `most` is None where there is no end.
        below, above: what does not fit outside.
        gap: a size inside that does not fit, and what does not: of a network that halves its input, an odd one.
    """

    least: int
    most: int | None
    below: str = ""
    above: str = ""
    gap: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Condition:
    """The shapes of one node, which must fit each other."""

    name: str
    node: ir.Node  # a copy, whose values get their shapes in numbers
    shapes: Sequence[tuple[ir.Value, Sequence[Formula | int | None]]]

    def broken(self, sizes: Mapping[str, int]) -> str | None:
        """What does not fit at these sizes; None where all does."""
        for value, dims in self.shapes:
            numbers = [dim(sizes) if isinstance(dim, Formula) else dim for dim in dims]
            value.shape = ir.Shape(numbers)
        wrong = contradiction(self.node)
        return None if wrong is None else f'{self.node.op_type} node "{self.name}": {wrong}'


def conditions(graphs: Iterable[ir.Graph], symbols: Symbols) -> list[Condition]:
    """The conditions that some sizes break, each once."""
    names = list(symbols.at)
    found: dict[Any, Condition] = {}
    for graph in graphs:
        for position, node in enumerate(graph):
            key = _likeness(node, symbols)
            if key is not None and key not in found:
                found[key] = _condition(node, position, symbols, names)
    points = list(_points(symbols.at))
    return [condition for condition in found.values() if any(condition.broken(point) for point in points)]


def broken(conditions: Iterable[Condition], sizes: Mapping[str, int]) -> str | None:
    """The first thing that does not fit at these sizes; None where all does."""
    return next((wrong for each in conditions if (wrong := each.broken(sizes)) is not None), None)


def ranges(conditions: Sequence[Condition], at: Mapping[str, int]) -> dict[str, Range]:
    """The range of each dimension around a point that fits, the others staying there; none where it does not fit."""
    if broken(conditions, at) is not None:
        return {}
    return {name: range_around(conditions, at, name) for name in at}


def range_around(conditions: Sequence[Condition], at: Mapping[str, int], name: str) -> Range:
    """The range of one dimension around a point that fits."""

    def wrong(size: int) -> str | None:
        return broken(conditions, {**at, name: size})

    least, below = _edge(wrong, at[name], 1)
    most, above = _edge(wrong, at[name], HIGHEST)
    inside = ((size, wrong(size)) for size in INSIDE if least < size < most)
    gap = next((f"{size}: {reason}" for size, reason in inside if reason is not None), "")
    return Range(least, None if above is None else most, below or "", above or "", gap)


def _edge(wrong: Any, inside: int, end: int) -> tuple[int, str | None]:
    """The furthest size towards an end that still fits, and what is wrong beyond it."""
    reason = wrong(end)
    if reason is None or inside == end:
        return end, reason
    outside = end
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        found = wrong(middle)
        if found is None:
            inside = middle
        else:
            outside, reason = middle, found
    return inside, reason


def _points(at: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Sizes to try: all alike, and each different from the others."""
    for size in TRIED:
        yield dict.fromkeys(at, size)
    for name, size, other in product(at if len(at) > 1 else (), TRIED, (1, 7, 1009)):
        yield dict.fromkeys(at, other) | {name: size}


def _dims(value: ir.Value | None, symbols: Symbols) -> Dims | None:
    if value is None:
        return None
    if value in symbols.shapes:
        return symbols.shapes[value]
    shape = value.shape
    return None if shape is None else tuple(dim if isinstance(dim, int) else None for dim in shape)


def _likeness(node: ir.Node, symbols: Symbols) -> Any:
    """What the checks see of a node; None where none of its shapes has a symbol."""
    shapes = [_dims(value, symbols) for value in (*node.inputs, *node.outputs)]
    if not any(dim is not None and not isinstance(dim, int) for dims in shapes for dim in dims or ()):
        return None
    plain = ((name, attr) for name, attr in node.attributes.items() if attr.type not in GRAPHS)
    attributes = tuple((name, text_of(attr.value)) for name, attr in plain)
    return node.domain, node.op_type, attributes, tuple(shapes)


def _condition(node: ir.Node, position: int, symbols: Symbols, names: Sequence[str]) -> Condition:
    inputs = [None if value is None else ir.Value(name=value.name) for value in node.inputs]
    attributes = [attr for attr in node.attributes.values() if attr.type not in GRAPHS]
    copy = ir.Node(node.domain, node.op_type, inputs, attributes, num_outputs=len(node.outputs))
    shapes = []
    for value, original in zip((*inputs, *copy.outputs), (*node.inputs, *node.outputs), strict=True):
        dims = _dims(original, symbols)
        if value is not None and original is not None:
            value.name = original.name
            if dims is not None:
                shapes.append((value, [_computed(dim, names) for dim in dims]))
    return Condition(node.name or str(position), copy, shapes)


def _computed(dim: Any, names: Sequence[str]) -> Formula | int | None:
    """A dimension that can be computed from the open ones."""
    if isinstance(dim, int | None):
        return dim
    return Formula(dim, names) if all(symbol.name in names for symbol in dim.free_symbols) else None


GRAPHS = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)

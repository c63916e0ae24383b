"""Costs as formulas: exact expressions in the dimensions that nobody gave.

Each node's rule runs once more, on shapes with symbols in them. Its counts at the point that the report was made for
must be those of the report: a node where they are not has no formula, and neither have the totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neural_cost.analyzer.cost import COUNTS, NOTHING, Cost, Dim
from neural_cost.analyzer.expressions import Formula, expanded, overtakes, power
from neural_cost.analyzer.node import Node, Tensor, Unknown, text_of
from neural_cost.analyzer.parameters import Weight
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.records import Totals
from neural_cost.analyzer.rules.registry import lookup
from neural_cost.analyzer.total_formulas import BUILT, TotalFormulas, why_missing
from neural_cost.analyzer.traffic import compulsory_bytes
from neural_cost.analyzer.walk import NodeCost

TOTALS = {
    "macs": "macs",
    "flops": "flops",
    "other_flops": "other_flops",
    "special_ops": "special_ops",
    "per_op_bytes": "traffic_bytes",
}  # of the totals: of a cost


@dataclass(frozen=True, slots=True)
class Growth(Record):
    """How a model grows with one dimension: the highest power of it in each total, None where there is no such power.

    `quadratic_from` is the size from which on the quadratic term of the MACs is larger than the linear one, with the
    other dimensions as the report has them; None where there is none.
    """

    dim: str
    macs: int | None
    traffic_bytes: int | None
    activation_peak_bytes: int | None
    quadratic_from: int | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Ends:
    """What compulsory traffic is made of: weights, graph inputs and outputs; `sources` are those that nodes read, and
    other constants that are data."""

    weights: Sequence[Weight]
    inputs: Sequence[Tensor]
    sources: Mapping[str, Tensor]
    outputs: Sequence[Tensor]


@dataclass(frozen=True, slots=True)
class Formulas(Record):
    """Formulas of a model's totals and nodes.

    Attributes:
        names: open dimensions, in the order of the model.
        totals: by the names of `Totals`; empty where a node has no formula, or runs no one knows how often. Asked for
            one that is not there, it raises a NeuralCostError with the reason.
        by: the totals by type and kind: "macs_by_type", "flops_by_type", "flops_by_kind".
        parameters, parameter_bytes: they do not depend on dimensions.
        nodes: for each node of the report the formulas of one execution, and of its repeats; None where it has none.
        missing: names of the nodes without a formula.
        why: what is in the way of totals that have none; empty where all have.
        growth: how the totals grow, by dimension.
    """

    names: Sequence[str]
    totals: Mapping[str, Formula]
    by: Mapping[str, Mapping[str, Formula]]
    parameters: int
    parameter_bytes: int
    nodes: Sequence[Mapping[str, Formula] | None]
    missing: Sequence[str]
    why: str
    growth: Sequence[Growth]

    def at(self, sizes: Mapping[str, int]) -> Totals:
        """The totals at these sizes, one for each name; there must be totals."""
        counts: dict[str, Any] = {name: formula(sizes) for name, formula in self.totals.items()}
        counts.setdefault("compulsory_bytes", None)
        for name, each in self.by.items():
            counts[name] = {kind: count for kind, formula in each.items() if (count := formula(sizes))}
        return Totals(complete=True, parameters=self.parameters, parameter_bytes=self.parameter_bytes, **counts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: formulas as text."""
        texts = {name: str(formula) for name, formula in self.totals.items()}
        per_op = texts.pop("per_op_bytes", None)
        return {
            "dims": list(self.names),
            **texts,
            **({"traffic_bytes": per_op, "parameters": str(self.parameters)} if per_op is not None else {}),
            "missing": list(self.missing),
            "why": self.why,
            "growth": [each.to_dict() for each in self.growth],
        }

    def _shown(self) -> dict[str, Any]:
        by = {name: {kind: str(each) for kind, each in kinds.items()} for name, kinds in self.by.items()}
        texts = {"totals": {name: str(formula) for name, formula in self.totals.items()}, "by": by}
        plain = ("parameters", "parameter_bytes", "missing", "why")
        return {"names": list(self.names), **texts, **{name: getattr(self, name) for name in plain}}


def formulas(
    nodes: Sequence[NodeCost], names: Sequence[str], sizes: Mapping[str, int], ends: Ends, peak: Formula | None = None
) -> Formulas:
    """Find the formulas of nodes whose numbers were found at these sizes of the open dimensions.

    `peak` is that of the activation peak, where there is one.
    """
    finder = _Finder(names, sizes)
    pairs = [(node, finder.of(node)) for node in nodes]
    missing = [node.node.name for node, cost in pairs if cost is None]
    parts = [
        _Part(node.kind, cost, node.open_repeats)
        for node, cost in pairs
        if cost is not None and node.open_repeats is not None
    ]
    whole = len(parts) == len(pairs)
    totals = TotalFormulas(_totals(parts, names) if whole else {})
    if whole and (least := _compulsory(pairs, ends, finder)) is not None:
        totals["compulsory_bytes"] = least
    if whole and peak is not None:
        totals["activation_peak_bytes"] = peak
    totals.why = "" if totals.keys() >= set(BUILT) else why_missing(missing, nodes)
    return Formulas(
        names,
        totals,
        _by(parts, names) if whole else {},
        sum(weight.elements for weight in ends.weights),
        sum(weight.stored.bytes for weight in ends.weights),
        [None if cost is None else finder.each(cost, node.open_repeats) for node, cost in pairs],
        missing,
        totals.why,
        [_growth(name, totals, sizes) for name in names] if totals else [],
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A node's part of the totals."""

    kind: str
    cost: Cost
    repeats: Dim


class _Finder:
    """Finds each formula once for all nodes that are alike: a deep model repeats its layers."""

    def __init__(self, names: Sequence[str], sizes: Mapping[str, int]) -> None:
        self.names = names
        self.sizes = sizes
        self._costs: dict[Any, Cost | None] = {}
        self._formulas: dict[Any, Formula] = {}

    def of(self, node: NodeCost) -> Cost | None:
        """Cost of one execution with symbols; None where the node has no formula, or no cost."""
        if node.cost is None or node.cost is NOTHING:
            return node.cost
        opened = node.node.opened
        if not any(_is_open(tensor) for tensor in (*opened.inputs, *opened.outputs)):
            return node.cost
        key = _likeness(opened)
        if key not in self._costs:
            self._costs[key] = self._found(opened, node.cost)
        return self._costs[key]

    def each(self, cost: Cost, repeats: Dim | None) -> dict[str, Formula]:
        """Formulas of the counts of one execution, and how often it runs."""
        counts = {name: self.formula(getattr(cost, name)) for name in COUNTS}
        return counts if repeats is None else counts | {"repeats": self.formula(repeats)}

    def formula(self, expression: Any) -> Formula:
        """One formula, made once."""
        if expression not in self._formulas:
            self._formulas[expression] = Formula(expression, self.names)
        return self._formulas[expression]

    def _found(self, opened: Node, numbers: Cost) -> Cost | None:
        rule = lookup(opened.domain, opened.op_type, opened.version)
        try:
            cost = rule.function(opened) if rule else None
            same = cost is not None and all(self._at(getattr(cost, n)) == getattr(numbers, n) for n in COUNTS)
        except (Unknown, TypeError, ValueError, AttributeError, KeyError):  # the rule needs what no symbol tells
            return None
        return cost if same else None

    def _at(self, expression: Any) -> int:
        return self.formula(expression)(self.sizes)


def _is_open(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.dims is not None and any(not isinstance(dim, int) for dim in tensor.dims)


def _likeness(node: Node) -> Any:
    """What a rule sees of a node, but for names: which of its tensors are one and the same is part of it."""
    places: dict[str, int] = {}

    def seen(tensor: Tensor | None) -> Any:
        if tensor is None:
            return None
        place = places.setdefault(tensor.name, len(places))
        value = None if tensor.value is None else (tensor.value.tobytes(), tensor.value.shape)
        return place, tensor.dtype, tensor.dims, tensor.constant, value

    attributes = tuple((name, text_of(value)) for name, value in node.attributes.items())
    head = (node.domain, node.op_type, node.version, node.causal_half, attributes)
    return (*head, tuple(map(seen, node.inputs)), tuple(map(seen, node.outputs)))


def _compulsory(pairs: Iterable[tuple[NodeCost, Cost | None]], ends: Ends, finder: _Finder) -> Formula | None:
    """Compulsory traffic; None where it is not known whole, or its formula gives another number than the nodes do."""
    pairs = list(pairs)
    number, whole = compulsory_bytes([node for node, _ in pairs], ends.sources, ends.outputs)
    opened = [replace(node, node=node.node.opened, cost=cost) for node, cost in pairs]
    sources = {name: tensor.opened for name, tensor in ends.sources.items()}
    try:
        found, _ = compulsory_bytes(opened, sources, [tensor.opened for tensor in ends.outputs])
    except (Unknown, TypeError):
        return None
    formula = finder.formula(found)
    return formula if whole and formula(finder.sizes) == number else None


def _totals(parts: Sequence[_Part], names: Sequence[str]) -> dict[str, Formula]:
    return {
        name: _sum(((getattr(part.cost, count), part.repeats) for part in parts), names)
        for name, count in TOTALS.items()
    }


def _by(parts: Sequence[_Part], names: Sequence[str]) -> dict[str, dict[str, Formula]]:
    """Totals by compute type, and FLOPs by kind of node."""
    groups: dict[str, Callable[[_Part], Mapping[str, Dim]]] = {
        "macs_by_type": lambda part: part.cost.macs_by_type,
        "flops_by_type": lambda part: part.cost.flops_by_type,
        "flops_by_kind": lambda part: {part.kind: part.cost.flops},
    }
    return {name: _grouped(parts, names, counts) for name, counts in groups.items()}


def _grouped(
    parts: Iterable[_Part], names: Sequence[str], counts: Callable[[_Part], Mapping[str, Dim]]
) -> dict[str, Formula]:
    terms: dict[str, list[tuple[Any, Dim]]] = {}
    for part in parts:
        for kind, count in counts(part).items():
            terms.setdefault(kind, []).append((count, part.repeats))
    return {kind: _sum(each, names) for kind, each in terms.items()}


def _sum(terms: Iterable[tuple[Any, Dim]], names: Sequence[str]) -> Formula:
    """Add up terms, equal ones at once."""
    import sympy

    counts: dict[Any, Any] = {}
    for term, times in terms:
        counts[term] = counts.get(term, 0) + times
    return Formula(expanded(sympy.Add(*[sympy.sympify(term) * times for term, times in counts.items()])), names)


def _growth(name: str, totals: Mapping[str, Formula], sizes: Mapping[str, int]) -> Growth:
    macs, peak = totals["macs"], totals.get("activation_peak_bytes")
    return Growth(
        name,
        power(macs, name),
        power(totals["per_op_bytes"], name),
        None if peak is None else power(peak, name),
        overtakes(macs, name, sizes),
    )

"""Every node visited once: its cost, or the reason why that is not known; how often it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import onnx_ir as ir

from neural_cost.analyzer.cost import COUNTS, NOTHING, Cost, Dim
from neural_cost.analyzer.engine import Body
from neural_cost.analyzer.errors import quoted
from neural_cost.analyzer.functions import calls_of
from neural_cost.analyzer.modules import scope_of
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.padding import needed_macs
from neural_cost.analyzer.quantized_pairs import integer_products
from neural_cost.analyzer.rules.attention import is_causal
from neural_cost.analyzer.rules.registry import Rule, lookup
from neural_cost.analyzer.shapes import Inference
from neural_cost.analyzer.views import Views


@dataclass(frozen=True, slots=True)
class NodeCost:
    """A node with the cost of one execution.

    Attributes:
        index: position in the file, or in the body that holds the node.
        graph: "main", or the path of the body.
        repeats: how often it runs in one run of the model; 0 in a branch that is not counted; None if not known.
        open_repeats: the same in terms of the dimensions that nobody gave.
        cost: None where it is not known, and `why` says why.
        uncounted: its operator has no rule.
        calls: the functions that it came through and the nodes that called them, outermost first.
        integer_type: that a runtime may compute its products in, as their operands are dequantized from it.
    """

    index: int
    node: Node
    scope: str
    kind: str
    graph: str
    repeats: Dim | None
    constant: bool
    cost: Cost | None
    why: str | None
    uncounted: bool
    calls: Sequence[tuple[str, str]] = ()
    open_repeats: Dim | None = 1
    integer_type: str | None = None

    @property
    def needed(self) -> Cost | None:
        """Its cost without products with zero padding, which a kernel may leave out."""
        return None if self.cost is None else replace(self.cost, macs=needed_macs(self.node, self.cost.macs))

    @property
    def least_flops(self) -> dict[str, Dim]:
        """FLOPs of one execution in the type that is the fastest for them: what bounds are made of, but for padding.

        Products of dequantized tensors are of integers, which are no slower; what quantizes may be part of them.
        """
        return _in_integers(self, self.cost)

    def padding_flops(self, *, integers: bool) -> dict[str, Dim]:
        """FLOPs with zero padding, by type; of `least_flops` with `integers`."""
        if self.cost is None or (padded := self.cost.macs - needed_macs(self.node, self.cost.macs)) == 0:
            return {}
        only = replace(NOTHING, macs=padded, compute_type=self.cost.compute_type)
        return _in_integers(self, only) if integers else only.flops_by_type


def _in_integers(node: NodeCost, cost: Cost | None) -> dict[str, Dim]:
    if cost is None or node.node.op_type in ("QuantizeLinear", "DequantizeLinear"):
        return {}
    return (cost if node.integer_type is None else replace(cost, compute_type=node.integer_type)).flops_by_type


class Runs(NamedTuple):
    """How often a graph runs in one run of the model: as a number, and in terms of open dimensions."""

    number: Dim | None
    open: Dim | None

    def times(self, number: Dim | None, open_: Dim | None) -> Runs:
        """How often a body of one of its nodes runs."""
        return Runs(_times(self.number, number), _times(self.open, open_))


ONCE = Runs(1, 1)
INTEGERS = (
    "{} products of dequantized tensors are counted as they stand; bounds take them as products of integers, and "
    "quantizing as free, as a runtime may fuse them"
)
MAX_RUNS = 2**63  # of one body in one run of the model
MAX_COUNT = 2**200  # of what one node does: beyond that, sums would leave what a float can hold


class Walk:
    """Costs the nodes of a model in order, each followed by those of the bodies that it runs."""

    def __init__(self, inference: Inference, *, causal_half: bool = False) -> None:
        self.engine = inference.engine
        self.views = Views(inference.engine, inference.symbols, causal_half=causal_half)
        self.notes: list[str] = []
        self.bodies: list[tuple[NodeCost, Sequence[Body]]] = []  # of control flow, in the order of the nodes
        self._has_functions = inference.engine.model.has_functions
        self._rules: dict[tuple[str, str], Rule | None] = {}

    def model(self) -> list[NodeCost]:
        """The whole model."""
        nodes = list(self._graph(self.engine.model.ir.graph, "main", ONCE))
        for place, kind in (integers := integer_products(nodes)).items():
            nodes[place] = replace(nodes[place], integer_type=kind)
        if integers:
            self.notes.append(INTEGERS.format(len(integers)))
        causal = sum(is_causal(node.node) for node in nodes)
        if causal:
            half = "the part that its mask leaves" if self.views.causal_half else "in full (--causal half counts less)"
            self.notes.append(f"causal attention, {causal} nodes: counted {half}")
        return nodes

    def _graph(self, graph: ir.Graph, name: str, runs: Runs) -> Iterator[NodeCost]:
        places = self.engine.model.file_index if name == "main" else {}
        for position, node in enumerate(graph):
            cost = self._node(node, places.get(node, position), name, runs)
            yield cost
            bodies = self.engine.bodies.get(node)
            if bodies:
                self.bodies.append((cost, bodies))
                yield from self._bodies(cost, bodies, runs)

    def _node(self, node: ir.Node, index: int, graph: str, runs: Runs) -> NodeCost:
        view = self.views.node(node, index)
        key = (view.domain, view.op_type)
        if key not in self._rules:
            self._rules[key] = lookup(view.domain, view.op_type, view.version)
        rule = self._rules[key]
        kind = "control_flow" if view.domain == "" and key in self.engine.follow else rule.kind if rule else "unknown"
        constant = all(value in self.engine.constant for value in node.outputs)
        controls = kind == "control_flow" or node in self.engine.stuck
        cost, why = self._control(node) if controls else _apply(view, rule, constant)
        uncounted = cost is None and rule is None and kind != "control_flow"
        calls = calls_of(node) if self._has_functions else ()
        return NodeCost(
            index, view, scope_of(node), kind, graph, runs.number, constant, cost, why, uncounted, calls, runs.open
        )

    def _control(self, node: ir.Node) -> tuple[Cost | None, str | None]:
        """Control flow costs nothing itself; where it is not known how often a body runs, neither is its cost."""
        bodies = self.engine.bodies.get(node)
        if bodies is None:
            return None, self.engine.stuck.get(node, "its bodies could not be followed")
        why = next((body.why for body in bodies if body.times is None), None)
        return (NOTHING, None) if why is None else (None, why)

    def _runs(self, owner: NodeCost, body: Body, runs: Runs) -> Runs:
        found = runs.times(body.times, self.views.times(body))
        if found.number is None or found.number <= MAX_RUNS:
            return found
        self.notes.append(
            f'the body of "{owner.node.name}" would run more than 2^63 times, and is left out of the sums'
        )
        return Runs(None, None)

    def _bodies(self, owner: NodeCost, bodies: Sequence[Body], runs: Runs) -> Iterator[NodeCost]:
        """Nodes of the bodies; of alternatives the dearer one counts, the others run 0 times."""
        place = f"{owner.graph}/{owner.node.name}"
        found = [
            list(self._graph(body.graph, f"{place}/{body.name}", self._runs(owner, body, runs))) for body in bodies
        ]
        if len(bodies) > 1 and owner.node.op_type == "If":
            dearest = max(range(len(found)), key=lambda index: work(found[index]))
            self.notes.append(
                f'If node "{owner.node.name}": its condition is not known, so the dearer of its branches counts: '
                f"{bodies[dearest].name}"
            )
            found = [
                nodes if index == dearest else [_not_counted(node) for node in nodes]
                for index, nodes in enumerate(found)
            ]
        for nodes in found:
            yield from nodes


def work(nodes: Iterable[NodeCost]) -> tuple[int, int]:
    """FLOPs and bytes of what is known."""
    known = [(node.cost, node.repeats) for node in nodes if node.cost is not None and node.repeats is not None]
    return (
        sum(cost.flops * repeats for cost, repeats in known),
        sum(cost.traffic_bytes * repeats for cost, repeats in known),
    )


def _times(outer: Dim | None, inner: Dim | None) -> Dim | None:
    return None if outer is None or inner is None else outer * inner


def _not_counted(node: NodeCost) -> NodeCost:
    return replace(node, repeats=0, open_repeats=0)


def _apply(view: Node, rule: Rule | None, constant: bool) -> tuple[Cost | None, str | None]:
    if constant:
        return NOTHING, None
    if rule is None:
        return None, f"there is no cost rule for {view.domain or 'ai.onnx'}::{view.op_type}"
    try:
        cost = rule.function(view)
    except Unknown as unknown:
        return None, f'"{unknown.tensor}": {unknown.why}' if unknown.tensor else unknown.why
    except Exception as error:
        return None, _why(view, rule, error)
    return _sound(view, cost)


def _sound(view: Node, cost: object) -> tuple[Cost | None, str | None]:
    """What a rule gives, unless it is no cost, or less than nothing."""
    if not isinstance(cost, Cost):
        return None, f"its rule gives {type(cost).__name__} where a Cost is wanted: return node.cost(...)"
    if any(isinstance(getattr(cost, name), float) for name in COUNTS):
        return None, "its rule gives a fraction where counts are whole numbers: divide by //"
    if max(cost.macs, cost.other_flops, cost.special_ops, cost.read_bytes, cost.write_bytes) > MAX_COUNT:
        return None, f"the sizes of this {view.op_type} are larger than any machine can have"
    if min(cost.macs, cost.other_flops, cost.special_ops, cost.read_bytes, cost.write_bytes) < 0:
        return None, f"the node does not have the form that {view.op_type} requires (a count is below 0)"
    return cost, None


def _why(view: Node, rule: Rule, error: Exception) -> str:
    """Say what is wrong with a node, or with a user's own rule: neither may lose the rest of the report."""
    if rule.kind == "custom":
        return f"its rule failed: {error!r}"
    return f"the node does not have the form that {view.op_type} requires ({quoted(error, 200)[1:-1]})"

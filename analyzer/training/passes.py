"""The backward pass of each node, in numbers or in open dimensions, and what all of them come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from neural_cost.analyzer.cost import Dim, minimum
from neural_cost.analyzer.errors import quoted
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.training.flow import Turn
from neural_cost.analyzer.training.links import Link
from neural_cost.analyzer.training.registry import Gradient, Wants, rule_of, why_none
from neural_cost.analyzer.training.storage import Storage
from neural_cost.analyzer.walk import NodeCost


@dataclass(frozen=True, slots=True)
class Part:
    """The backward pass of one execution of a node.

    Attributes:
        gradient: None where it is not known, and `why` says why.
        uncounted: its operator has no backward rule.
        saves: tensors of the graph that it needs kept.
        weights: positions of inputs that are weights, under whatever name.
        repeats: how often the node runs; None where that is not known.
    """

    node: NodeCost
    wants: Wants
    gradient: Gradient | None
    why: str
    uncounted: bool
    saves: Sequence[Tensor]
    weights: frozenset[int]
    repeats: Dim | None

    @property
    def known(self) -> bool:
        """Whether its figures are in the sums."""
        return self.gradient is not None and self.repeats is not None

    @property
    def weight_macs(self) -> Dim:
        """MACs of the gradients of weights, of one execution."""
        return self._macs(weights=True)

    @property
    def input_macs(self) -> Dim:
        """MACs of all other gradients."""
        return self._macs(weights=False) + (0 if self.gradient is None else self.gradient.inner_macs)

    def _macs(self, *, weights: bool) -> Dim:
        macs = {} if self.gradient is None else self.gradient.macs
        found: Dim = 0
        for at, count in macs.items():
            if (at in self.weights) is weights:
                found = found + count
        return found


@dataclass(frozen=True, slots=True)
class Looks:
    """How nodes are seen: with numbers, or with open dimensions as symbols."""

    node: Callable[[Node], Node] = field(default=lambda node: node)
    tensor: Callable[[Tensor], Tensor] = field(default=lambda tensor: tensor)
    repeats: Callable[[NodeCost], Dim | None] = field(default=lambda node: node.repeats)


NUMBERS = Looks()
SYMBOLS = Looks(lambda node: node.opened, lambda tensor: tensor.opened, lambda node: node.open_repeats)


def backward_pass(flow: Iterable[Turn], storage: Storage, looks: Looks) -> list[Part]:
    """Each node that runs backward; one whose first run in a loop needs less stands there twice."""
    return [_part(turn, storage, looks) for turn in flow]


def _repeats(turn: Turn, looks: Looks) -> Dim | None:
    """How often a node takes this turn: a loop has one first run each time that it starts."""
    runs = looks.repeats(turn.node)
    starts = None if turn.loop is None else looks.repeats(turn.loop)
    if turn.loop is None or runs is None or starts is None:
        return runs
    starts = minimum(starts, runs)  # it may run no time at all
    return starts if turn.first else runs - starts


def _part(turn: Turn, storage: Storage, looks: Looks) -> Part:
    each, wants, repeats = turn.node, turn.wants, _repeats(turn, looks)
    node = each.node
    gradient, why = _gradient(node, wants, looks)
    weights = frozenset(at for at in wants if storage.root(node.required(at)).constant)
    saves = () if gradient is None else _saved(node, gradient)
    why = why or ("" if repeats is not None else "it is not known how often it runs")
    return Part(each, wants, gradient, why, rule_of(node.domain, node.op_type) is None, saves, weights, repeats)


def _gradient(node: Node, wants: Wants, looks: Looks) -> tuple[Gradient | None, str]:
    """What the rule of a node gives, or why it gives nothing."""
    rule = rule_of(node.domain, node.op_type)
    if rule is None:
        return None, why_none(node.domain, node.op_type)
    try:
        found = rule(looks.node(node), wants)
        _check(found)
    except Unknown as unknown:
        return None, f'"{unknown.tensor}": {unknown.why}' if unknown.tensor else unknown.why
    except Exception as error:
        return None, f"the node does not have the form that {node.op_type} requires ({quoted(error, 200)[1:-1]})"
    return found, ""


def _check(gradient: object) -> None:
    if not isinstance(gradient, Gradient):
        raise Unknown(f"its backward rule gives {type(gradient).__name__} where a Gradient is wanted")


def _saved(node: Node, gradient: Gradient) -> Sequence[Tensor]:
    """The graph's own tensors behind those that a rule names, which may be views with symbols."""
    own = {tensor.name: tensor for tensor in (*node.inputs, *node.outputs) if tensor is not None}
    return [own[tensor.name] for tensor in gradient.saves if tensor is not None]


def total(parts: Iterable[Part], count: Callable[[Part], Dim]) -> Dim:
    """A count over all executions that are known."""
    known = [part for part in parts if part.gradient is not None and part.repeats is not None]
    return alike(count(part) * (part.repeats or 0) for part in known)


def alike(terms: Iterable[Dim]) -> Dim:
    """Add up; equal terms at once, since expressions take their time."""
    counts: dict[Dim, int] = {}
    for term in terms:
        counts[term] = counts.get(term, 0) + 1
    found: Dim = 0
    for term, times in counts.items():
        found = found + term * times
    return found


def added_up(parts: Iterable[Part], looks: Looks, links: Iterable[Link] = ()) -> Dim:
    """Adds of the gradients of a tensor that is read more than once: by several nodes, or in several runs of a body."""
    links = list(links)
    handed = {link.target for link in links if link.kind != "out"}
    uses: dict[Tensor, Dim] = {}
    made: dict[Tensor, Dim] = {}
    for part in parts:
        if part.repeats is None:
            continue
        for tensor in (part.node.node.required(at) for at in sorted(part.wants)):
            uses[tensor] = uses.get(tensor, 0) + part.repeats
            if tensor in handed:
                made.setdefault(tensor, part.repeats)
        runs = looks.repeats(part.node) or 0
        made.update((tensor, runs) for tensor in part.node.node.outputs if tensor is not None)
    for link in links:  # what a run hands on is read in the next one
        if link.kind == "carried" and link.target in uses:
            uses[link.source] = uses.get(link.source, 0) + made[link.target]
    found: Dim = 0
    for tensor, times in uses.items():
        try:
            found = found + (times - made.get(tensor, 1)) * looks.tensor(tensor).size
        except Unknown:  # the node that reads it says so
            continue
    return found

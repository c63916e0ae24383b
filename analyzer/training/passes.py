"""The backward pass of each node, in numbers or in open dimensions, and what all of them come to."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.errors import quoted
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.training.flow import Flow
from neural_cost.analyzer.training.registry import Gradient, Wants, rule_of
from neural_cost.analyzer.walk import NodeCost


@dataclass(frozen=True, slots=True)
class Part:
    """The backward pass of one execution of a node.

    Attributes:
        gradient: None where it is not known, and `why` says why.
        uncounted: its operator has no backward rule.
        saves: tensors of the graph that it needs kept.
        repeats: how often the node runs; None where that is not known.
    """

    node: NodeCost
    wants: Wants
    gradient: Gradient | None
    why: str
    uncounted: bool
    saves: Sequence[Tensor]
    repeats: Dim | None

    @property
    def known(self) -> bool:
        """Whether its figures are in the sums."""
        return self.gradient is not None and self.repeats is not None

    @property
    def weight_macs(self) -> Dim:
        """MACs of the gradients of weights, of one execution."""
        return self._macs(constant=True)

    @property
    def input_macs(self) -> Dim:
        """MACs of all other gradients."""
        return self._macs(constant=False) + (0 if self.gradient is None else self.gradient.inner_macs)

    def _macs(self, *, constant: bool) -> Dim:
        macs = {} if self.gradient is None else self.gradient.macs
        inputs = self.node.node.inputs
        found: Dim = 0
        for at, count in macs.items():
            tensor = inputs[at] if at < len(inputs) else None
            if (tensor is not None and tensor.constant) is constant:
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


def backward_pass(flow: Flow, looks: Looks) -> list[Part]:
    """Each node that runs backward."""
    return [_part(each, wants, looks) for each, wants in flow.nodes]


def _part(each: NodeCost, wants: Wants, looks: Looks) -> Part:
    node, repeats = each.node, looks.repeats(each)
    rule = rule_of(node.domain, node.op_type)
    if rule is None:
        why = f"there is no backward rule for {node.domain or 'ai.onnx'}::{node.op_type}"
        return Part(each, wants, None, why, True, (), repeats)
    seen = looks.node(node)
    try:
        gradient = rule(seen, wants)
        _check(gradient)
    except Unknown as unknown:
        why = f'"{unknown.tensor}": {unknown.why}' if unknown.tensor else unknown.why
        return Part(each, wants, None, why, False, (), repeats)
    except Exception as error:
        why = f"the node does not have the form that {node.op_type} requires ({quoted(error, 200)[1:-1]})"
        return Part(each, wants, None, why, False, (), repeats)
    why = "" if repeats is not None else "it is not known how often it runs"
    return Part(each, wants, gradient, why, False, _saved(node, gradient), repeats)


def _check(gradient: object) -> None:
    if not isinstance(gradient, Gradient):
        raise Unknown(f"its backward rule gives {type(gradient).__name__} where a Gradient is wanted")


def _saved(node: Node, gradient: Gradient) -> list[Tensor]:
    """The graph's own tensors behind those that a rule names, which may be views with symbols."""
    own = {tensor.name: tensor for tensor in (*node.inputs, *node.outputs) if tensor is not None}
    return [own[tensor.name] for tensor in gradient.saves if tensor is not None]


def total(parts: Iterable[Part], count: Callable[[Part], Dim]) -> Dim:
    """A count over all executions that are known."""
    found: Dim = 0
    for part in parts:
        if part.gradient is not None and part.repeats is not None:
            found = found + count(part) * part.repeats
    return found


def added_up(parts: Iterable[Part], looks: Looks, handed: Container[Tensor] = ()) -> Dim:
    """Adds of the gradients of a tensor that is read more than once: by several nodes, or in several runs of a body.

    `handed` are what a body is handed anew in each run.
    """
    uses: dict[Tensor, Dim] = {}
    made: dict[Tensor, Dim] = {}
    for part in parts:
        if part.repeats is None:
            continue
        for at in sorted(part.wants):
            tensor = part.node.node.required(at)
            uses[tensor] = uses.get(tensor, 0) + part.repeats
            if tensor in handed:
                made[tensor] = part.repeats
        made.update((tensor, part.repeats) for tensor in part.node.node.outputs if tensor is not None)
    found: Dim = 0
    for tensor, times in uses.items():
        try:
            found = found + (times - made.get(tensor, 1)) * looks.tensor(tensor).size
        except Unknown:  # the node that reads it says so
            continue
    return found

"""The registry of backward rules, and what a rule gives.

A rule sees a node and which of its inputs need a gradient, and gives the work of those gradients and what must be kept
from the forward pass for them. An operator without one, where a gradient has to pass, is listed as uncounted; one
through which none passes is declared so in `rules.constant`.

Conventions: a product of matrices costs what its dense loop nest costs, as forward. Other arithmetic is the formula of
the derivative from what is kept, an operation 1 FLOP, the product with the gradient that comes in included; a select
moves data. Where an input was broadcast, its gradient is a sum: as many adds as the output has more elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import Node, Tensor

Wants: TypeAlias = frozenset[int]
"""Positions of the inputs that need a gradient; at least one."""


class Kept(NamedTuple):
    """What is kept from the forward pass beside the node's own tensors: a mask, statistics, gates.

    `dtype` is that of an element; `precise` says that it is not narrowed where activations are.
    """

    elements: Dim
    dtype: str
    precise: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradient:
    """The backward pass of one execution of a node.

    Attributes:
        macs: those of the gradient of each input.
        inner_macs: those of gradients inside the operator, which every gradient needs.
        other_flops: arithmetic outside contractions; `special_ops` of them are transcendental.
        saves: inputs and outputs of the node that must be kept; None and weights among them do not count.
        kept: what must be kept beside them.
    """

    macs: Mapping[int, Dim] = field(default_factory=dict)
    inner_macs: Dim = 0
    other_flops: Dim = 0
    special_ops: Dim = 0
    saves: tuple[Tensor | None, ...] = ()
    kept: tuple[Kept, ...] = ()


BackwardRule: TypeAlias = Callable[[Node, Wants], Gradient]

_rules: dict[tuple[str, str], BackwardRule | None] = {}
_constant: dict[tuple[str, str], str] = {}
_underivable: dict[tuple[str, str], str] = {}
_closed: dict[tuple[str, str], frozenset[int]] = {}


def backward(*op_types: str, domain: str = "") -> Callable[[BackwardRule], BackwardRule]:
    """Register a backward rule for operators of a domain. `neural_cost.register_backward` is this function.

    Raises:
        ValueError: an operator has one already.
    """

    def decorate(function: BackwardRule) -> BackwardRule:
        for op_type in op_types:
            _add(domain, op_type, function)
        return function

    return decorate


def no_gradient(*op_types: str, domain: str = "", why: str) -> None:
    """Declare operators through which no gradient passes, with the reason that holds for all of them."""
    for op_type in op_types:
        _add(domain, op_type, None)
        _constant[domain, op_type] = why


def no_derivative(*op_types: str, domain: str = "", why: str) -> None:
    """Declare operators without a derivative, to which training gives one by choice: listed with the reason."""
    for op_type in op_types:
        _underivable[domain, op_type] = why


def why_none(domain: str, op_type: str) -> str:
    """Why an operator has no rule: no gradient passes through it, it has no derivative, or nobody has written one."""
    _load()
    missing = f"there is no backward rule for {domain or 'ai.onnx'}::{op_type}"
    return _constant.get((domain, op_type)) or _underivable.get((domain, op_type), missing)


def rounds(domain: str, op_type: str) -> bool:
    """Whether an operator gives rounded numbers, through whose integers training may pass a gradient all the same."""
    _load()
    return (domain, op_type) in _underivable


def no_gradient_to(op_type: str, *positions: int, domain: str = "") -> None:
    """Declare inputs of real numbers to which an operator gives no gradient, though it does to others."""
    _closed[domain, op_type] = frozenset(positions)


def _add(domain: str, op_type: str, rule: BackwardRule | None) -> None:
    if (domain, op_type) in _rules:
        raise ValueError(f"{domain or 'ai.onnx'}::{op_type} has a backward rule already")
    _rules[domain, op_type] = rule


def rule_of(domain: str, op_type: str) -> BackwardRule | None:
    """The rule of an operator; None where it has none, or lets no gradient pass."""
    _load()
    return _rules.get((domain, op_type))


def passes(domain: str, op_type: str) -> bool:
    """Whether a gradient passes through an operator: one without a rule may let it, for all that is known."""
    _load()
    return _rules.get((domain, op_type), backward) is not None


def open_inputs(node: Node) -> list[tuple[int, Tensor]]:
    """Inputs that a node gives a gradient to, with their positions, if they can have one."""
    _load()
    closed = _closed.get((node.domain, node.op_type), frozenset())
    return [(at, tensor) for at, tensor in enumerate(node.inputs) if tensor is not None and at not in closed]


def registered() -> dict[tuple[str, str], BackwardRule | None]:
    """All rules by domain and operator; None for operators through which no gradient passes."""
    _load()
    return dict(_rules)


def _load() -> None:
    from neural_cost.analyzer.training import rules

    rules.load()


def reduced(node: Node, wants: Wants) -> Dim:
    """Adds that bring the gradient of the output down to the inputs that were broadcast to it."""
    return sum((node.y.size - node.required(index).size for index in sorted(wants)), 0)

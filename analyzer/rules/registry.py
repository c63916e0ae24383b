"""The registry of cost rules, keyed by (domain, operator, since version).

A rule is a plain function from a Node to its Cost. An operator without one is listed as uncounted, never costed as
nothing; what truly costs nothing is declared so in `views`, with the criterion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.errors import RuleError
from neural_cost.analyzer.node import Node

CostRule: TypeAlias = Callable[[Node], Cost]

# What a reader groups nodes by. A family's module gives the kind, but for those whose work is a contraction.
CONTRACTIONS = {
    "attention",
    "contrib_attention",
    "contrib_contraction",
    "contrib_convolution",
    "contrib_recurrent",
    "convolution",
    "grouped_attention",
    "linear_attention",
    "mixture_of_experts",
    "quantized_attention",
    "quantized_contraction",
    "recurrent",
    "sparse_attention",
    "weight_only",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A cost rule with what it applies to."""

    domain: str
    op_type: str
    since: int
    function: CostRule
    kind: str


_rules: dict[tuple[str, str], list[Rule]] = {}


def cost(*op_types: str, domain: str = "", since: int = 1, replace: bool = False) -> Callable[[CostRule], CostRule]:
    """Register a rule for operators of a domain, from an opset version on. `neural_cost.register` is this function.

    `replace` takes the place of the rules that an operator has from that version on, those that are built in too.

    Raises:
        RuleError: an operator has a rule for that version already, or none is named.
    """
    if not op_types or not all(isinstance(op_type, str) for op_type in op_types):
        raise RuleError('a cost rule needs the names of its operators: @neural_cost.register("MyOp", domain="mine")')

    def decorate(function: CostRule) -> CostRule:
        package, _, family = (function.__module__ or "").rpartition(".")
        custom = package != __package__
        if custom:
            _load()  # else a built-in rule would come later, and find its place taken
        kind = "custom" if custom else "contraction" if family in CONTRACTIONS else family
        for op_type in op_types:
            add(Rule(domain, op_type, since, function, kind), replace=replace)
        return function

    return decorate


def add(rule: Rule, *, replace: bool = False) -> None:
    """Add one rule. Raises RuleError when its place is taken, and is not to be."""
    versions = _rules.setdefault((rule.domain, rule.op_type), [])
    if replace:
        versions[:] = [other for other in versions if other.since < rule.since]
    if any(other.since == rule.since for other in versions):
        raise RuleError(
            f"{rule.domain or 'ai.onnx'}::{rule.op_type} has a cost rule since version {rule.since} already: give "
            "replace=True to neural_cost.register to take its place"
        )
    versions.append(rule)
    versions.sort(key=lambda other: -other.since)


def _load() -> None:
    from neural_cost.analyzer import rules

    rules.load()


def lookup(domain: str, op_type: str, version: int) -> Rule | None:
    """Find the newest rule that is not newer than the version; None when the operator has none."""
    _load()
    return next((rule for rule in _rules.get((domain, op_type), ()) if rule.since <= version), None)


def registered() -> list[Rule]:
    """All rules, sorted by domain, operator and version."""
    _load()
    flat = [rule for versions in _rules.values() for rule in versions]
    return sorted(flat, key=lambda rule: (rule.domain, rule.op_type, rule.since))

"""Reductions: each input element is combined once, n operations for n elements as in a contraction.

Some do work on an element first (absolute, square, exp) or on a result afterwards (division, root, log). With
`noop_with_empty_axes` and no axes nothing is combined, and the rest remains.
"""

from __future__ import annotations

from typing import NamedTuple

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.activations import PerElement
from neural_cost.analyzer.rules.registry import CostRule, cost

NONE = PerElement(0)
ONE = PerElement(1)
SPECIAL = PerElement(1, 1)


class Reduction(NamedTuple):
    """Work on each input element before it is combined, to combine it, and on each result."""

    before: PerElement = NONE
    combine: PerElement = ONE
    after: PerElement = NONE


REDUCTIONS = {
    "ReduceSum": Reduction(),
    "ReduceMax": Reduction(),
    "ReduceMin": Reduction(),
    "ReduceProd": Reduction(),
    "ReduceMean": Reduction(after=SPECIAL),
    "ReduceL1": Reduction(before=ONE),
    "ReduceL2": Reduction(before=ONE, after=SPECIAL),
    "ReduceSumSquare": Reduction(before=ONE),
    "ReduceLogSum": Reduction(after=SPECIAL),
    # Without overflow: find the largest, subtract it, exp, add; then log and add the largest.
    "ReduceLogSumExp": Reduction(before=PerElement(2, 1), combine=PerElement(2), after=PerElement(2, 1)),
}


def reduce(node: Node, work: Reduction) -> Cost:
    """Cost a reduction from the work on an element."""
    axes = node.input(1)
    named = node.attr("axes") if axes is None else axes.dims != (0,)
    if node.attr("noop_with_empty_axes", 0) and not named:
        return _unreduced(node, work)
    size, results = node.x.size, node.y.size
    element = work.before + work.combine
    return node.cost(
        other_flops=size * element.flops + results * work.after.flops,
        special_ops=size * element.special + results * work.after.special,
    )


def _unreduced(node: Node, work: Reduction) -> Cost:
    element = work.before + work.after if node.op_type != "ReduceMean" else NONE
    size = node.x.size
    return node.cost(other_flops=size * element.flops, special_ops=size * element.special)


def _rule_of(work: Reduction) -> CostRule:
    def rule(node: Node) -> Cost:
        return reduce(node, work)

    return rule


for _op_type, _work in REDUCTIONS.items():
    cost(_op_type)(_rule_of(_work))


@cost("ArgMax", "ArgMin")
def arg(node: Node) -> Cost:
    """Cost one comparison for each input element."""
    return node.cost(other_flops=node.x.size)


@cost("CumSum", "CumProd")
def cumulate(node: Node) -> Cost:
    """Cost one operation for each element."""
    return node.cost(other_flops=node.x.size)

"""Reductions: the gradient goes back to each element, by its share in the result."""

from __future__ import annotations

from typing import NamedTuple

from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.activations import PerElement
from neural_cost.analyzer.training.registry import BackwardRule, Gradient, Wants, backward

NONE = PerElement(0)


class Share(NamedTuple):
    """Work on each result and on each element, and which of the two tensors it is made from."""

    results: PerElement
    elements: PerElement
    keeps: str = ""  # "x", "y" or both


SHARES = {
    "ReduceSum": Share(NONE, NONE),
    "ReduceMean": Share(PerElement(1, 1), NONE),  # dy / n
    "ReduceMax": Share(NONE, PerElement(1), "xy"),  # dy where x is y
    "ReduceMin": Share(NONE, PerElement(1), "xy"),
    "ReduceProd": Share(PerElement(1), PerElement(1, 1), "xy"),  # dy * y / x
    "ReduceL1": Share(NONE, PerElement(2), "x"),  # dy * sign(x)
    "ReduceL2": Share(PerElement(1, 1), PerElement(1), "xy"),  # dy / y * x
    "ReduceSumSquare": Share(PerElement(1), PerElement(1), "x"),  # 2 * dy * x
    "ReduceLogSum": Share(PerElement(2, 1), NONE, "y"),  # dy * exp(-y)
    "ReduceLogSumExp": Share(NONE, PerElement(3, 1), "xy"),  # dy * exp(x - y)
}


def _rule_of(share: Share) -> BackwardRule:
    def rule(node: Node, wants: Wants) -> Gradient:
        del wants
        results, elements = node.y.size, node.x.size
        return Gradient(
            other_flops=results * share.results.flops + elements * share.elements.flops,
            special_ops=results * share.results.special + elements * share.elements.special,
            saves=tuple({"x": node.x, "y": node.y}[each] for each in share.keeps),
        )

    return rule


for _op_type, _share in SHARES.items():
    backward(_op_type)(_rule_of(_share))

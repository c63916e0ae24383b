"""The Softmax family: one row at a time, in the form that cannot overflow (the largest is subtracted first).

Before opset 13 the input is flattened to rows at `axis` (default 1); from there on a row lies along `axis` alone
(default -1). That changes the number of rows, never the number of elements.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.activations import SOFTMAX
from neural_cost.analyzer.rules.elementwise import ONE, per_element
from neural_cost.analyzer.rules.registry import cost


def rows(node: Node) -> Dim:
    """Count the rows that are normalized on their own."""
    shape = node.x.shape
    if node.version < 13:
        axis = node.attr("axis", 1)
        return prod(shape[: axis if axis >= 0 else axis + len(shape)])
    axis = node.attr("axis", -1) % max(len(shape), 1)
    return prod(shape[:axis]) * prod(shape[axis + 1 :])


@cost("Softmax")
def softmax(node: Node) -> Cost:
    """Cost max, subtract, exp, sum and divide for each element."""
    return per_element(node, SOFTMAX)


@cost("LogSoftmax")
def log_softmax(node: Node) -> Cost:
    """Cost max, subtract, exp, sum and subtract for each element, and the log of the sum for each row."""
    size, logs = node.x.size, rows(node)
    return node.cost(other_flops=5 * size + logs, special_ops=size + logs)


@cost("Hardmax")
def hardmax(node: Node) -> Cost:
    """Cost the comparisons that find the largest of each row; ones and zeros are then written."""
    return per_element(node, ONE)

"""How large the products are that a node computes: small ones reach less than the best peak."""

from __future__ import annotations

from neural_cost.analyzer.cost import prod
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.records import NodeRecord
from neural_cost.analyzer.rules.recurrent import directions_of


def product_size(node: NodeRecord) -> float | None:
    """n of the product of two n x n matrices that has as many MACs as one product of this node; None without MACs.

    A node may compute many: a MatMul one for each matrix of its second operand, a convolution one for each group and
    image, a recurrent one for each step and direction. It is an estimate: a product of another form than a square
    reaches less.
    """
    if not node.macs:
        return None
    try:
        return float((node.macs / max(1, _products(node))) ** (1 / 3))
    except Unknown:
        return float(node.macs ** (1 / 3))


def groups_of(node: Node) -> int:
    """Groups of a convolution; 1 where a broken file says something else than a number."""
    found = node.attr("group", 1)
    return found if isinstance(found, int) and found > 0 else 1


def _products(node: NodeRecord) -> int:
    view = node.source.node
    match node.op_type:
        case "MatMul" | "MatMulInteger" | "FusedMatMul":
            return int(prod(view.required(1).shape[:-2]))
        case "Conv" | "ConvTranspose" | "ConvInteger" | "QLinearConv" | "FusedConv":
            return int(view.x.shape[0]) * groups_of(view)
        case "RNN" | "GRU" | "LSTM":
            return int(view.x.shape[0]) * directions_of(view)
    return 1

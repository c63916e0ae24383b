"""Products of dequantized tensors: a runtime may compute them in the integers that those were quantized to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neural_cost.analyzer.walk import NodeCost

INTEGERS = {"int8": "int8", "uint8": "int8"}  # others have no kernels that multiply them


def integer_products(nodes: Sequence[NodeCost]) -> dict[int, str]:
    """Places of products whose two operands are dequantized, with the type that they may be computed in."""
    widened: dict[str, str] = {}
    for each in nodes:
        source = each.node.input(0) if each.node.op_type == "DequantizeLinear" else None
        if source is not None and source.dtype in INTEGERS:
            widened |= {tensor.name: INTEGERS[source.dtype] for tensor in each.node.outputs if tensor}
    if not widened:
        return {}
    found: dict[int, str] = {}
    for place, each in enumerate(nodes):
        operands = [tensor for tensor in each.node.inputs[:2] if tensor is not None and tensor.name in widened]
        if len(operands) == 2 and each.cost is not None and each.cost.macs:
            found[place] = widened[operands[0].name]
    return found

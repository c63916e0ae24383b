"""Tables of a rotary embedding that were made at export: frequencies, and cosines and sines by position.

Frequencies are floats that a product reads, as weights are. What tells them apart: the other operand comes from
integers, and the product goes to a sine or cosine. Learned features of a time or a coordinate multiply floats.
Cosines and sines are known by the operator that takes them, be it after their rows have been picked by position.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.parameter_inputs import OTHER
from neural_cost.analyzer.walk import NodeCost

PRODUCTS = {"Mul", "MatMul", "Gemm", "Einsum"}
SAME_VALUES = {"Cast", "Concat", "Expand", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
PICKED = SAME_VALUES | {"Gather", "GatherND", "Slice"}
ROTARY = {
    op_type for op_type in OTHER if "Rotary" in op_type or op_type.endswith(("QueryAttention", "PagedAttention"))
}  # fmt: skip


def rotary_tables(nodes: Iterable[NodeCost]) -> set[str]:
    """Names of the constants that are such tables, as they are stored."""
    maker = {tensor.name: each.node for each in nodes for tensor in each.node.outputs if tensor is not None}
    return _frequencies(maker) | _by_position(maker)


def _by_position(maker: dict[str, Node]) -> set[str]:
    """Tables whose rows a rotary operator takes."""
    found = set()
    for node in maker.values():
        for position in OTHER[node.op_type] if node.op_type in ROTARY else ():
            tensor = node.input(position)
            if tensor is not None:
                found.add(_source(tensor, maker, PICKED).name)
    return found


def _frequencies(maker: dict[str, Node]) -> set[str]:
    found: set[str] = set()
    for node in maker.values():
        if node.op_type not in ("Cos", "Sin") or node.input(0) is None:
            continue
        product = maker.get(_source(node.x, maker).name)
        if product is not None and product.op_type in PRODUCTS:
            found.update(_tables(product, maker))
    return found


def _tables(product: Node, maker: dict[str, Node]) -> Iterator[str]:
    sources = [_source(tensor, maker) for tensor in product.inputs if tensor is not None]
    if any(map(_is_integer, sources)):
        yield from (tensor.name for tensor in sources if tensor.constant)


def _is_integer(tensor: Tensor) -> bool:
    return tensor.dtype is not None and tensor.dtype.startswith(("int", "uint"))


def _source(tensor: Tensor, maker: dict[str, Node], through: set[str] = SAME_VALUES) -> Tensor:
    """What a tensor's elements are before they are laid out anew, picked, or became floats."""
    while not _is_integer(tensor):
        node = maker.get(tensor.name)
        if node is None or node.op_type not in through or not node.inputs or node.inputs[0] is None:
            break
        tensor = node.inputs[0]
    return tensor

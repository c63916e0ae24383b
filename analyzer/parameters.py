"""Which constants are parameters: weights that work on data, not shapes, scales, statistics or scalars.

A constant that a node reads at run time is a weight where its elements are floats, or integers of 8 bits and fewer
in a matrix (a quantized weight), unless it stands where the operator wants something else (`parameter_inputs`), or
turns whole-numbered positions into the angles of a rotary embedding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from neural_cost.analyzer.angles import rotary_tables
from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import BITS, Node, Tensor
from neural_cost.analyzer.parameter_inputs import INTEGERS, OTHER, PACKED, SCALARS
from neural_cost.analyzer.walk import NodeCost

# Constant nodes that hand on the same elements, in another order, shape or type, or with fill values about them.
SAME_ELEMENTS = {
    "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Cast", "CastLike", "DequantizeLinear",
    "Pad",
}  # fmt: skip

RECURRENT = {"RNN", "GRU", "LSTM"}


@dataclass(frozen=True, slots=True)
class Weight:
    """A weight as the file stores it.

    Attributes:
        stored: the tensor that the file holds, or that constants make.
        elements: its parameters; more than the elements of `stored` where those pack several.
    """

    stored: Tensor
    elements: Dim


def parameters(nodes: Sequence[NodeCost]) -> dict[str, Weight]:
    """Weights by the names that nodes read them under; two names of one weight give one and the same `stored`."""
    origin = _origins(nodes)
    tables = rotary_tables(nodes)
    states = _initial_states(nodes)
    found: dict[str, Weight] = {}
    for each in nodes:
        if each.constant:
            continue
        for position, tensor in enumerate(each.node.inputs):
            if (
                tensor is None
                or tensor.name in found
                or tensor.name in states
                or not _is_weight(each.node, position, tensor)
            ):
                continue
            stored = origin.get(tensor.name, tensor)
            if stored.dtype not in BITS or stored.dims is None or None in stored.dims:
                stored = tensor
            if stored.name not in tables:
                found[tensor.name] = Weight(stored, _elements(each.node, position, tensor, stored))
    return found


def other_constants(nodes: Sequence[NodeCost], weights: Mapping[str, Weight]) -> dict[str, Tensor]:
    """Constants that nodes read as data and that are no parameters, as stored, by the names they are read under.

    Running statistics of a BatchNormalization, scales, masks, rotary tables. A single element is no traffic that
    anything must have, since a kernel may hold it, and wide integers are positions and sizes.
    """
    origin = _origins(nodes)
    found: dict[str, Tensor] = {}
    for each in nodes:
        inputs = each.node.inputs[:1] if each.kind == "views" else each.node.inputs
        for tensor in () if each.constant else inputs:
            if tensor is not None and tensor.name not in weights and _is_data(tensor):
                stored = origin.get(tensor.name, tensor)
                known = stored.dtype in BITS and stored.dims is not None and None not in stored.dims
                found[tensor.name] = stored if known else tensor
    return found


def _is_data(tensor: Tensor) -> bool:
    if not tensor.constant or not tensor.dims or None in tensor.dims or tensor.dtype not in BITS or tensor.size == 1:
        return False
    return tensor.bits <= 8 or tensor.dtype.startswith(("float", "bfloat", "complex"))


def all_sizes_known(nodes: Iterable[NodeCost]) -> bool:
    """Whether no constant that a node reads at run time has a size that is not known: it could be a weight."""
    inputs = (tensor for each in nodes if not each.constant for tensor in each.node.inputs if tensor is not None)
    return all(tensor.dims is not None and None not in tensor.dims for tensor in inputs if tensor.constant)


def distinct(weights: Iterable[Weight]) -> list[Weight]:
    """Each stored tensor once."""
    return list({weight.stored.name: weight for weight in weights}.values())


def _initial_states(nodes: Iterable[NodeCost]) -> set[str]:
    """Constants that an Expand to the size that they have hands on to recurrent layers as their initial state."""
    running = [each.node for each in nodes if not each.constant]
    wanted = {
        node.required(at).name
        for node in running
        for at in (OTHER[node.op_type] if node.op_type in RECURRENT else ())
        if node.input(at) is not None
    }
    return {
        node.x.name
        for node in running
        if node.op_type == "Expand" and node.x.dims == node.y.dims and node.y.name in wanted
    }


def _origins(nodes: Iterable[NodeCost]) -> dict[str, Tensor]:
    """What the outputs of constant nodes were before they were renamed, turned or widened."""
    origin: dict[str, Tensor] = {}
    for each in nodes:
        source = each.node.input(0)
        if each.constant and each.node.op_type in SAME_ELEMENTS and source is not None:
            for tensor in each.node.outputs:
                if tensor is not None:
                    origin[tensor.name] = origin.get(source.name, source)
    return origin


def _is_weight(node: Node, position: int, tensor: Tensor) -> bool:
    if not tensor.constant or not tensor.dims or None in tensor.dims or tensor.dtype not in BITS:
        return False
    if position in OTHER.get(node.op_type, ()) or (tensor.size == 1 and node.op_type in SCALARS):
        return False
    if tensor.dtype.startswith(("float", "bfloat", "complex")):
        return True
    narrow = tensor.bits <= 8 and tensor.rank > 1 and tensor.dtype != "bool"
    return narrow or position in INTEGERS.get(node.op_type, ())


def _elements(node: Node, position: int, tensor: Tensor, stored: Tensor) -> Dim:
    """Parameters in a tensor: an operator that packs several into a byte says how wide they are, or how many."""
    if tensor.dtype != "uint8" or node.domain != "com.microsoft":
        return stored.size
    if node.op_type in ("MatMulNBits", "MatMulBnb4") and position == 1:
        return _count(node, "N", 0) * _count(node, "K", 0)
    name = PACKED.get((node.op_type, position))
    return tensor.size * 8 // (_count(node, name, 4) or 8 if name else 8)


def _count(node: Node, name: str, default: int) -> int:
    """An attribute that counts something; its default where it holds no count."""
    value = node.attr(name, default)
    return value if isinstance(value, int) and value >= 0 else default

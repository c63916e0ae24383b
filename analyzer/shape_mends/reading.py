"""What a mend reads from a node: its inputs, attributes and known values."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
from onnx_shape_inference import OpUsageError, ShapeInferenceContext

Dim = int | ir.SymbolicDim


def given(node: ir.Node, index: int) -> ir.Value | None:
    """An input; None for one that is absent."""
    return node.inputs[index] if index < len(node.inputs) else None


def required(node: ir.Node, index: int) -> ir.Value:
    """An input that the operator cannot do without.

    Raises:
        OpUsageError: it is absent.
    """
    value = given(node, index)
    if value is None:
        raise OpUsageError(node, f"input {index} is required")
    return value


def dims_of(value: ir.Value | None, rank: int | None = None) -> list[Dim] | None:
    """Dimensions of a value; None where they are not known, or not of that rank."""
    if value is None or value.shape is None or (rank is not None and len(value.shape) != rank):
        return None
    return list(value.shape)


def integer(node: ir.Node, name: str, default: int = 0) -> int:
    """An integer attribute."""
    attr = node.attributes.get(name)
    return default if attr is None else attr.as_int()


def integers(node: ir.Node, name: str, default: list[int]) -> list[int]:
    """A list of integers as an attribute."""
    attr = node.attributes.get(name)
    return default if attr is None else list(attr.as_ints())


def text(node: ir.Node, name: str, default: str = "") -> str:
    """A string attribute."""
    attr = node.attributes.get(name)
    return default if attr is None else attr.as_string()


def array(value: ir.Value | None) -> np.ndarray[Any, Any] | None:
    """Elements of a constant; None for what is absent or not constant."""
    tensor = None if value is None else ir.convenience.get_const_tensor(value)
    return None if tensor is None else np.asarray(tensor.numpy())


def known_ints(value: ir.Value | None) -> list[int] | None:
    """Elements of a constant of integers, flat."""
    constant = array(value)
    return None if constant is None else [int(element) for element in constant.flatten()]


def elements(context: ShapeInferenceContext, value: ir.Value | None) -> list[Dim] | None:
    """Elements as numbers or symbols, flat; None where they are not known."""
    numbers = known_ints(value)
    if numbers is None and value is not None:
        symbolic: list[Dim] | None = context.get_symbolic_value(value)
        return symbolic
    return None if numbers is None else list(numbers)


def known_int(context: ShapeInferenceContext, value: ir.Value | None) -> Dim | None:
    """A scalar, as a number or a symbol."""
    found = elements(context, value)
    return found[0] if found is not None and len(found) == 1 else None


def fresh(context: ShapeInferenceContext, count: int) -> list[Dim]:
    """Dimensions that nothing is known of."""
    return [context.new_symbolic_dim() for _ in range(count)]


def set_output(
    context: ShapeInferenceContext,
    node: ir.Node,
    index: int,
    dims: list[Dim] | None,
    dtype: ir.DataType | None,
) -> None:
    """Give an output, where the node has it, its shape (None: not known) and type."""
    if index < len(node.outputs) and node.outputs[index].name:
        context.set_shape_and_dtype(node.outputs[index], None if dims is None else ir.Shape(dims), dtype)


def product(dims: list[Dim]) -> Dim:
    """Number of elements."""
    result: Dim = 1
    for dim in dims:
        result = result * dim
    return result


def normal_axis(node: ir.Node, axis: int, rank: int) -> int:
    """An axis counted from the front.

    Raises:
        OpUsageError: the tensor has no such axis.
    """
    if not -rank <= axis < rank:
        raise OpUsageError(node, f"axis {axis} is out of range for rank {rank}")
    return axis % rank

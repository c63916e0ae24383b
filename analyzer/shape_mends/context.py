"""The context of inference, with a mend of how onnx_shape_inference follows the values of small tensors."""

from __future__ import annotations

from math import prod
from typing import Any

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.values import MAX_ELEMENTS


class Context(ShapeInferenceContext):  # type: ignore[misc]  # the library is not checked
    """Follows whole numbers in vectors and scalars alone; truth is 0 or 1.

    Upstream follows floats as if they were whole numbers (-4.0 / -3.0 becomes 1), and matrices as flat lists, which
    then broadcast wrongly. What is not followed here is computed by ONNX's reference implementation, where it is known.
    """

    def set_symbolic_value(self, value: ir.Value, data: list[int | ir.SymbolicDim]) -> None:
        """Keep the elements of a value, where they are whole numbers, one for each place that its shape has."""
        shape, dtype = value.shape, value.dtype
        whole = dtype is not None and (dtype.is_integer() or dtype == ir.DataType.BOOL)
        if whole and shape is not None and shape.is_static() and len(shape) < 2 and prod(shape.numpy()) == len(data):
            super().set_symbolic_value(value, [plain(element) for element in data])
        else:
            self.forget(value)

    def set_shape(self, value: ir.Value, shape: ir.Shape) -> bool:
        """Give a value its shape; a dimension whose symbols cancel out is a number."""
        if not shape.is_static():
            shape = ir.Shape([plain(dim) for dim in shape])
        changed: bool = super().set_shape(value, shape)
        return changed

    def get_symbolic_value(self, value: ir.Value) -> list[int | ir.SymbolicDim] | None:
        """Elements of a value, where they are known and few: a long constant holds data, which is not read."""
        tensor = value.const_value
        if tensor is not None and tensor.size > MAX_ELEMENTS:
            return None
        elements: list[int | ir.SymbolicDim] | None = super().get_symbolic_value(value)
        return elements

    def forget(self, value: ir.Value) -> None:
        """Drop what an earlier pass over a body followed."""
        self._symbolic_values.pop(value, None)


def plain(dim: int | ir.SymbolicDim) -> int | ir.SymbolicDim:
    """A dimension in its simplest form, where upstream keeps another.

    Symbols that cancel out leave a number: n + (30 - n) is 30. Roundings in a row are one: windows of stride 2 over
    windows of stride 2 are windows of stride 4.
    """
    if isinstance(dim, int) or dim.value is None:
        return dim
    if dim.value.isdigit():
        return int(dim.value)
    return ir.SymbolicDim(_rounded_once(dim._expr)) if dim.value.count("floor(") > 1 else dim


def _rounded_once(expression: Any) -> Any:
    """floor((floor(y) + k) / n) is floor((y + k) / n), for whole numbers k and n above 0."""
    import sympy

    def merged(argument: Any) -> Any:
        for inner in argument.atoms(sympy.floor):
            share = argument.coeff(inner)
            rest = argument - share * inner
            if share.is_Rational and share.p == 1 and rest.is_Rational and (rest * share.q).is_integer:
                return merged(inner.args[0] * share + rest)
        return sympy.floor(argument)

    return expression.replace(sympy.floor, merged)

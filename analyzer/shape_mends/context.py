"""The context of inference, with a mend of how onnx_shape_inference follows the values of small tensors."""

from __future__ import annotations

from math import prod
from typing import Any

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.values import MAX_ELEMENTS

MAX_FRESH = 4096  # symbols that one node makes: a vector of 1e12 elements that are not known is not followed
MAX_SIZE = 2**63 - 1
MAX_READ = 65_536
MAX_TERMS = 96  # parts of an expression: one that grows from node to node becomes a size that is not known


class TooManySymbols(ValueError):
    """A node would make a symbol for each element of a long vector; shapes that it has set already hold."""


class Context(ShapeInferenceContext):  # type: ignore[misc]  # the library is not checked
    """Follows whole numbers in vectors and scalars alone; truth is 0 or 1.

    Upstream follows floats as if they were whole numbers (-4.0 / -3.0 becomes 1), and matrices as flat lists, which
    then broadcast wrongly. What is not followed here is computed by ONNX's reference implementation, where it is known.
    """

    fresh = 0  # symbols made since the last node began
    read = 0  # elements of values handed out since then

    def begin(self) -> None:
        """Begin a node: its work is counted from here."""
        self.fresh = self.read = 0

    def get_symbolic_value(self, value: ir.Value) -> list[int | ir.SymbolicDim] | None:
        """Elements of a value, where they are known and few: a long constant holds data, which is not read.

        Raises:
            TooManySymbols: the node reads more of them than shape arithmetic needs.
        """
        tensor = value.const_value
        if tensor is not None and tensor.size > MAX_ELEMENTS:
            return None
        data: list[int | ir.SymbolicDim] | None = super().get_symbolic_value(value)
        self.read += len(data) if data else 0
        if self.read > MAX_READ:
            raise TooManySymbols("more values are read than can be followed")
        return data

    def new_symbolic_dim(self) -> ir.SymbolicDim:
        """Make a symbol.

        Raises:
            TooManySymbols: the node makes more of them than a shape can have.
        """
        self.fresh += 1
        if self.fresh > MAX_FRESH:
            raise TooManySymbols("more sizes are not known than can be followed")
        dim: ir.SymbolicDim = super().new_symbolic_dim()
        return dim

    def set_symbolic_value(self, value: ir.Value, data: list[int | ir.SymbolicDim]) -> None:
        """Keep the elements of a value, where they are whole numbers, one for each place that its shape has."""
        shape, dtype = value.shape, value.dtype
        whole = dtype is not None and (dtype.is_integer() or dtype == ir.DataType.BOOL)
        followed = whole and shape is not None and shape.is_static() and len(shape) < 2 and len(data) <= MAX_FRESH
        if followed and prod(shape.numpy()) == len(data) and not any(map(is_long, data)):  # type: ignore[union-attr]
            super().set_symbolic_value(value, [plain(element) for element in data])
        else:
            self.forget(value)

    def set_shape(self, value: ir.Value, shape: ir.Shape) -> bool:
        """Give a value its shape; a dimension whose symbols cancel out is a number."""
        if not shape.is_static():
            shape = ir.Shape([plain(dim) for dim in shape])
        changed: bool = super().set_shape(value, shape)
        return changed

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


def is_long(dim: int | ir.SymbolicDim, most: int = MAX_TERMS) -> bool:
    """Whether a dimension is an expression of too many parts, or a number beyond 64 bits."""
    if isinstance(dim, int):
        return not -MAX_SIZE <= dim <= MAX_SIZE
    todo = [dim._expr]  # onnx_ir keeps the expression there, and has no public way to it
    for _ in range(most):
        if not todo:
            return False
        part = todo.pop()
        if part is not None:
            todo += part.args
            if part.is_Integer and not -MAX_SIZE <= part <= MAX_SIZE:
                return True
    return bool(todo)

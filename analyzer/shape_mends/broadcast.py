"""Broadcasting of two symbols: upstream takes the first, and is wrong where that one is 1.

Sizes that broadcast are equal, or one of them is 1: so the larger is right for all of them.
"""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import _broadcast

Dim = int | ir.SymbolicDim
theirs = _broadcast._broadcast_dim  # the one function that every broadcasting operator goes through; it is not public


def broadcast_dim(first: Dim, second: Dim) -> Dim | None:
    """Broadcast two dimensions; None where numbers do not fit."""
    if isinstance(first, int) or isinstance(second, int) or first == second or None in (first.value, second.value):
        result: Dim | None = theirs(first, second)
        return result
    import sympy

    return ir.SymbolicDim(sympy.Max(first._expr, second._expr))


def install() -> None:
    """Put it in the place of upstream's."""
    _broadcast._broadcast_dim = broadcast_dim

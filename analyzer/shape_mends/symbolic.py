"""Operators for which upstream forgets dimensions that are symbols."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends.reading import (
    Dim,
    dims_of,
    elements,
    given,
    integer,
    known_int,
    required,
    set_output,
)
from neural_cost.analyzer.shape_mends.registry import ask_upstream, mend


@mend("ConstantOfShape", since=9)
def constant_of_shape(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Its input is the shape of its output, whether numbers or symbols."""
    ask_upstream(context, node, 9)
    dims = elements(context, required(node, 0))
    if node.outputs[0].shape is None and dims is not None:
        context.set_shape(node.outputs[0], ir.Shape(dims))


@mend("Equal", since=7)
def equal(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Whole numbers are compared element by element; upstream leaves that out. A size is never below 0."""
    ask_upstream(context, node, 7)
    pairs = _aligned(context, node.inputs[:2])
    if pairs is not None:
        truths = [_same(context, first, second) for first, second in pairs]
        values = [context.new_symbolic_dim() if truth is None else int(truth) for truth in truths]
        context.set_symbolic_value(node.outputs[0], values)


@mend("Where", since=9)
def where(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Where the condition is known it chooses; upstream looks at whether both choices are the same."""
    ask_upstream(context, node, 9)
    rows = _aligned(context, node.inputs[:3])
    if rows is not None:
        values = [yes if truth else no for truth, yes, no in rows if isinstance(truth, int)]
        if len(values) == len(rows):
            context.set_symbolic_value(node.outputs[0], values)


@mend("STFT", since=17)
def stft(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Frames of a signal whose length is a symbol; upstream counts those of a number alone."""
    ask_upstream(context, node, 17)
    signal, out = dims_of(required(node, 0)), dims_of(node.outputs[0], 4)
    step, window = known_int(context, required(node, 1)), dims_of(given(node, 2), 1)
    length = known_int(context, given(node, 3)) if given(node, 3) is not None else window and window[0]
    if out is None or signal is None or len(signal) < 2 or not isinstance(length, int) or not isinstance(step, int):
        return
    if step > 0:
        frames = (signal[1] - length) // step + 1
        set_output(context, node, 0, [out[0], frames, *out[2:]], node.outputs[0].dtype)


@mend("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin")
def reduced(context: ShapeInferenceContext, node: ir.Node) -> None:
    """The elements of a whole vector become one: the rows of a Tensordot are a product of sizes."""
    ask_upstream(context, node, 1)
    data, out = required(node, 0), node.outputs[0]
    found = _whole(context, data)
    if not found or data.shape is None or len(data.shape) != 1 or out.shape is None:
        return
    if all(dim == 1 for dim in out.shape) and not integer(node, "noop_with_empty_axes"):
        result = functools.reduce(REDUCTIONS[node.op_type], found)
        context.set_symbolic_value(out, [result if isinstance(result, int) else context.simplify_dim(result)])


def _chosen(name: str) -> Callable[[Dim, Dim], Dim]:
    """The larger or smaller of two, as an expression."""

    def choose(first: Dim, second: Dim) -> Dim:
        if isinstance(first, int) and isinstance(second, int):
            return max(first, second) if name == "Max" else min(first, second)
        return ir.SymbolicDim(f"{name}({first}, {second})")

    return choose


REDUCTIONS: Mapping[str, Callable[[Dim, Dim], Dim]] = {
    "ReduceProd": operator.mul,
    "ReduceSum": operator.add,
    "ReduceMax": _chosen("Max"),
    "ReduceMin": _chosen("Min"),
}


def _aligned(context: ShapeInferenceContext, inputs: Sequence[ir.Value | None]) -> list[tuple[Dim, ...]] | None:
    """Elements of vectors and scalars that broadcast, side by side; None where one of them is not known."""
    lists = [_whole(context, value) for value in inputs]
    known = [each for each in lists if each is not None]
    length = max((len(each) for each in known), default=0)
    if len(known) < len(lists) or any(len(each) not in (1, length) for each in known):
        return None
    return list(zip(*(each * length if len(each) < length else each for each in known), strict=True))


def _whole(context: ShapeInferenceContext, value: ir.Value | None) -> list[Dim] | None:
    if value is None or value.dtype is None or value.shape is None or len(value.shape) > 1:
        return None
    return elements(context, value) if value.dtype.is_integer() or value.dtype == ir.DataType.BOOL else None


def _same(context: ShapeInferenceContext, first: Dim, second: Dim) -> bool | None:
    """Whether two numbers are equal; None where that depends on the sizes that symbols stand for."""
    difference = first - second
    if isinstance(difference, int):
        return difference == 0
    if difference.value is None or any(map(context.is_generated_symbol, difference.free_symbols())):
        return None
    import sympy

    sizes = {name: sympy.Symbol(name, integer=True, nonnegative=True) for name in difference.free_symbols()}
    expression: Any = difference._expr  # onnx_ir keeps it there, and makes its symbols greater than 0
    zero: bool | None = expression.subs({symbol: sizes[symbol.name] for symbol in expression.free_symbols}).is_zero
    return zero

"""Mends of operators that take a part of a tensor."""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import OpUsageError, ShapeInferenceContext

from neural_cost.analyzer.shape_mends.reading import (
    Dim,
    dims_of,
    elements,
    fresh,
    given,
    integer,
    known_ints,
    normal_axis,
    required,
    set_output,
)
from neural_cost.analyzer.shape_mends.registry import ask_upstream, mend

FURTHEST = (2**31 - 1, 2**63 - 1)
FAR = FURTHEST[0]  # an end from here on is behind every axis


@mend("Slice", since=10)
def slice_(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Upstream takes axes and steps that it cannot read for absent, and a long end for the size of an unknown axis."""
    data = required(node, 0)
    dims = dims_of(data)
    starts, ends = known_ints(required(node, 1)), elements(context, required(node, 2))
    axes, steps = known_ints(given(node, 3)), known_ints(given(node, 4))
    if dims is None or _unread(node, 3) or _unread(node, 4):
        set_output(context, node, 0, None if dims is None else fresh(context, len(dims)), data.dtype)
        return
    ask_upstream(context, node, 10)
    if starts is None or ends is None:
        return
    found = dims_of(node.outputs[0]) or dims
    for i, axis in enumerate(axes if axes is not None else range(len(starts))):
        at = normal_axis(node, axis, len(dims))
        step = steps[i] if steps is not None else 1
        end = ends[i]
        taken = _sliced(context, dims[at], starts[i], end, step) if isinstance(end, int) else None
        found[at] = found[at] if taken is None else taken
    set_output(context, node, 0, found, data.dtype)


def _sliced(context: ShapeInferenceContext, dim: Dim, start: int, end: int, step: int) -> Dim | None:
    """Elements taken of an axis; None where upstream's own answer for a symbolic axis stands."""
    if isinstance(dim, int):
        return slice_length(dim, start, end, step)
    if step < 0:
        whole = (start == -1 or start >= FAR) and (end in FURTHEST or end <= -FAR)
        return -(-dim // -step) if whole else context.new_symbolic_dim()
    if start < 0 or end < 0 or end >= FAR:
        return None
    taken: Dim = context.simplify_dim(ir.SymbolicDim(f"Max(0, -floor(({start} - Min({end}, {dim})) / {step}))"))
    return taken


def slice_length(dim: int, start: int, end: int, step: int) -> int:
    """Elements that Slice takes of an axis: ONNX's clamping, which is not Python's for a step below 0.

    A largest integer means "to the end" in either direction, as ONNX Runtime takes it.
    """
    if step < 0 and end in FURTHEST:
        end = -dim - 1
    start, end = (value + dim if value < 0 else value for value in (start, end))
    if step < 0:
        start, end = max(0, min(start, dim - 1)), max(-1, min(end, dim - 1))
    else:
        start, end = max(0, min(start, dim)), max(0, min(end, dim))
    return max(0, -((start - end) // step)) if dim else 0


@mend("Squeeze")
def squeeze_all(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Without axes those of size 1 go: which, and so the rank, is not known while a size is not; upstream keeps it."""
    data = required(node, 0)
    dims = dims_of(data)
    if "axes" in node.attributes or dims is None or all(isinstance(dim, int) for dim in dims):
        ask_upstream(context, node, 1)
    else:
        set_output(context, node, 0, None, data.dtype)


@mend("Squeeze", since=13)
def squeeze(context: ShapeInferenceContext, node: ir.Node) -> None:
    """From here on the axes are an input; upstream takes those that it cannot read for absent."""
    data, axes = required(node, 0), given(node, 1)
    if axes is None:
        squeeze_all(context, node)
    elif known_ints(axes) is not None:
        ask_upstream(context, node, 13)
    else:
        dims, counted = dims_of(data), dims_of(axes, 1)
        count = counted[0] if counted is not None else None
        kept = len(dims) - count if dims is not None and isinstance(count, int) else None
        set_output(context, node, 0, None if kept is None else fresh(context, kept), data.dtype)


@mend("Pad", since=11)
def pad(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Upstream does not follow pads that shape arithmetic makes, and takes axes that it cannot read for absent."""
    data = required(node, 0)
    dims, pads = dims_of(data), elements(context, given(node, 1))
    if dims is not None:
        dims = fresh(context, len(dims)) if pads is None or _unread(node, 3) else _padded(node, dims, pads)
    set_output(context, node, 0, dims, data.dtype)


def _padded(node: ir.Node, dims: list[Dim], pads: list[Dim]) -> list[Dim]:
    """Pads are those before each axis, then those behind; input 3 names the axes, all of them where it is absent."""
    axes = known_ints(given(node, 3))
    axes = list(range(len(dims))) if axes is None else axes
    if len(pads) != 2 * len(axes):
        raise OpUsageError(node, f"{len(pads)} pads do not fit {len(axes)} axes")
    found = list(dims)
    for i, axis in enumerate(axes):
        at = normal_axis(node, axis, len(dims))
        found[at] = found[at] + pads[i] + pads[i + len(axes)]
    return found


@mend("Split", since=13)
def split(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Upstream takes sizes that are no constants for absent, and splits evenly."""
    data = required(node, 0)
    dims = dims_of(data)
    if not _unread(node, 1) or dims is None:
        ask_upstream(context, node, 13)
        return
    axis = normal_axis(node, integer(node, "axis"), len(dims))
    count = len(node.outputs)
    sizes = elements(context, given(node, 1)) or fresh(context, count)
    for i, size in zip(range(count), sizes, strict=True):
        set_output(context, node, i, [*dims[:axis], size, *dims[axis + 1 :]], data.dtype)


def _unread(node: ir.Node, index: int) -> bool:
    """Whether an input is there, and its values are not known."""
    value = given(node, index)
    return value is not None and known_ints(value) is None

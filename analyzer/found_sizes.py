"""Sizes that only a run finds: each has a name, `tensor:axis`, by which a user can give it, and some have a most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

import onnx_ir as ir

from neural_cost.analyzer.shape_checks import Shape, numbers
from neural_cost.analyzer.values import Values

Most = Callable[
    [Values, ir.Node, Shape, int], "int | None"
]  # values, node, shape of its first input, axis of the output


def size_name(value: ir.Value, axis: int) -> str:
    """The name of a size that only a run finds."""
    return f"{value.name}:{axis}"


def most(values: Values, node: ir.Node, axis: int) -> int | None:
    """The largest that a size can be which only a run finds; None where nothing limits it."""
    function = MOST.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    shape = numbers(node.inputs[0]) if function is not None and node.inputs else None
    if function is None or shape is None:
        return None
    try:
        return function(values, node, shape, axis)
    except (IndexError, TypeError, ValueError):  # a node without the inputs or attributes that its operator wants
        return None


def _elements(values: Values, node: ir.Node, shape: Shape, axis: int) -> int | None:
    return prod(shape)


def _along_axis(values: Values, node: ir.Node, shape: Shape, axis: int) -> int | None:
    """All elements, or with an attribute `axis` those along it."""
    attr = node.attributes.get("axis")
    return prod(shape) if attr is None else shape[attr.as_int()]


def _same_axis(values: Values, node: ir.Node, shape: Shape, axis: int) -> int | None:
    return shape[axis] if axis < len(shape) else None


def _boxes(values: Values, node: ir.Node, shape: Shape, axis: int) -> int | None:
    """Of each batch and class as many boxes as there are, or as many as input 2 allows: none where it is absent."""
    scores = numbers(node.inputs[1])
    if scores is None or len(scores) != 3:
        return None
    batches, classes, boxes = scores
    limit = node.inputs[2] if len(node.inputs) > 2 else None
    if limit is None:
        return 0
    allowed = values.known(limit)
    return batches * classes * (boxes if allowed is None else min(boxes, max(0, int(allowed.item()))))


MOST: Mapping[str, Most] = {
    "NonZero": _elements,
    "Unique": _along_axis,
    "Compress": _along_axis,
    "NonMaxSuppression": _boxes,
    "Slice": _same_axis,
    "TopK": _same_axis,
    "StringNormalizer": _same_axis,
}

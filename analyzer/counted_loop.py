"""Loops that count up to a limit: their trips are an expression, where the limit is one.

`while i < n` with `i` going up by a constant, as converters of TensorFlow and Keras write a recurrent layer. The
condition is looked for, not run, so the limit may be a symbol, and as large as it likes.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from neural_cost.analyzer.cost import Dim, ceil_div, maximum, minimum
from neural_cost.analyzer.engine import Engine

SAME = {"Identity", "Cast", "Squeeze", "Unsqueeze", "Reshape"}  # of one whole number: it stays what it is
# A comparison of the counter with the limit, and what is added to a limit that may be reached: i <= n is i < n + 1.
COUNTS_UP = {"Less": 0, "LessOrEqual": 1}
TURNED = {"Greater": "Less", "GreaterOrEqual": "LessOrEqual"}


@dataclass(frozen=True, slots=True)
class Counter:
    """A number that is `start` in the first iteration and grows by `step`."""

    start: Dim
    step: int


def counted_trips(engine: Engine, node: ir.Node, body: ir.Graph, most: Dim | None) -> Dim | None:
    """Trips of a Loop that has started, by the condition at the end of its body; None where that does not count up.

    `most` is the limit that the Loop itself has, None for no limit.
    """
    limits = _limits(engine, node, body, body.outputs[0])
    if limits is None:
        return None
    trips = most
    for limit in limits:
        trips = limit if trips is None else minimum(trips, limit)
    return trips


def count_starts(engine: Engine, value: ir.Value | None) -> bool | None:
    """Whether the condition before the first iteration holds, where symbols tell: 0 < n for every size n."""
    node = _source(value)
    compared = None if node is None else _compared(node)
    if compared is None:
        return None
    less, limit, more = compared
    first, last = _whole(engine, less), _whole(engine, limit)
    if first is None or last is None:
        return None
    truth = first < last + more
    return bool(truth) if truth in (True, False) else None


def _limits(engine: Engine, node: ir.Node, body: ir.Graph, condition: ir.Value) -> list[Dim] | None:
    """The iteration after which each part of a condition is false; None where a part is not of this kind."""
    made = _source(condition)
    if made is None or made.graph is not body:
        return None
    if made.op_type == "And":
        parts = [_limits(engine, node, body, value) for value in made.inputs if value is not None]
        return None if len(parts) != 2 or None in parts else [limit for part in parts for limit in part or ()]
    compared = _compared(made)
    if compared is None:
        return None
    less, limit, more = compared
    counter, end = _counter(engine, node, body, less), _invariant(engine, node, body, limit)
    if counter is None or end is None:
        return None
    # After t iterations it is start + (t - 1) * step: the first t for which that has reached the end.
    return [maximum(1, ceil_div(end + more - counter.start, counter.step) + 1)]


def _compared(node: ir.Node) -> tuple[ir.Value | None, ir.Value | None, int] | None:
    """The smaller and the larger side of a comparison, and what to add to the larger."""
    name = TURNED.get(node.op_type, node.op_type)
    if name not in COUNTS_UP or len(node.inputs) != 2 or node.domain not in ("", "ai.onnx"):
        return None
    first, second = node.inputs if name == node.op_type else reversed(node.inputs)
    return first, second, COUNTS_UP[name]


def _counter(engine: Engine, node: ir.Node, body: ir.Graph, value: ir.Value | None) -> Counter | None:
    """What a value of the body is in its iterations, if it counts: the iteration number, or a state that adds up."""
    value = _root(value)
    if value is body.inputs[0]:
        return Counter(0, 1)
    added = _added(engine, value)
    if added is not None:
        inner, step = added
        base = _counter(engine, node, body, inner)
        return None if base is None else Counter(base.start + step, base.step)
    if value is None or value not in body.inputs[2:]:
        return None
    position = body.inputs.index(value) - 2
    more = _added(engine, _root(body.outputs[1 + position]))
    first = _whole(engine, node.inputs[2 + position])
    if more is None or _root(more[0]) is not value or more[1] <= 0 or first is None:
        return None
    return Counter(first, more[1])


def _added(engine: Engine, value: ir.Value | None) -> tuple[ir.Value | None, int] | None:
    """Of an Add of a constant: the other side, and the constant."""
    made = None if value is None else value.producer()
    if made is None or made.op_type != "Add" or len(made.inputs) != 2:
        return None
    for one, other in (made.inputs, reversed(made.inputs)):
        step = _whole(engine, other)
        if isinstance(step, int):
            return one, step
    return None


def _invariant(engine: Engine, node: ir.Node, body: ir.Graph, value: ir.Value | None) -> Dim | None:
    """A number that is the same in every iteration: from outside, or a state that is handed on as it came."""
    value = _root(value)
    if value is not None and value in body.inputs[2:]:
        position = body.inputs.index(value) - 2
        return _whole(engine, node.inputs[2 + position]) if _root(body.outputs[1 + position]) is value else None
    made = None if value is None else value.producer()
    inside = value is not None and (value in body.inputs or (made is not None and made.graph is body))
    constant = value is not None and value in engine.constant
    return _whole(engine, value) if constant or not inside else None


def _whole(engine: Engine, value: ir.Value | None) -> Dim | None:
    """A whole number; old opsets compare them as floats."""
    value = _root(value)
    if value is None or value.dtype is None or not value.dtype.is_floating_point():
        return engine.count(value)
    array = engine.values.known(value)
    number = None if array is None or array.size != 1 else float(array.item())
    return int(number) if number is not None and number.is_integer() else None


def _root(value: ir.Value | None) -> ir.Value | None:
    """A value before it was renamed or cast; a cast from a float is none of these, since it rounds."""
    while value is not None and (made := value.producer()) is not None and made.op_type in SAME and made.inputs:
        before = made.inputs[0]
        if before is None or before.dtype is None or before.dtype.is_floating_point():
            break
        value = before
    return value


def _source(value: ir.Value | None) -> ir.Node | None:
    value = _root(value)
    return None if value is None else value.producer()

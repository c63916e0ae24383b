"""Bodies of If, Loop, Scan and SequenceMap: what goes in, what comes out, and how often they run.

A body is inferred with the shapes of its first run. Where a loop hands on another shape than it got, what differs is
not known, and the body is inferred again with that, until nothing changes: a shape that grows is unknown, not wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.engine import Body, Engine, Follow, dim_of
from neural_cost.analyzer.trip_count import loop_trips, sequence_length

MAX_PASSES = 20  # of one body; each but the last makes a dimension unknown for good
CHANGES = "its shape changes from one iteration to the next"


@dataclass(frozen=True, slots=True)
class State:
    """What is known of a value that goes into or comes out of a body."""

    shape: ir.Shape | None
    type: ir.TypeProtocol | None
    why: str = ""


def follow_if(engine: Engine, node: ir.Node) -> None:
    """A known condition takes its branch; otherwise either may run, and only what both agree on is known after it."""
    truth = engine.truth(node.inputs[0])
    names = [name for name in ("then_branch", "else_branch") if truth is None or (name == "then_branch") is truth]
    bodies = [Body(name, node.attributes[name].as_graph(), 1) for name in names]
    for body in bodies:
        _infer(engine, body.graph)
    engine.bodies[node] = bodies
    for index, value in enumerate(node.outputs):
        ends = [body.graph.outputs[index] for body in bodies]
        state = _state(engine, ends[0])
        for end in ends[1:]:
            state = _merged(engine, state, _state(engine, end), "its branches make different shapes")
        _set(engine, value, state)
        if len(ends) == 1:
            value.const_value = ends[0].const_value


def follow_loop(engine: Engine, node: ir.Node) -> None:
    """A Loop's body gets the iteration's number, a condition that is true, and values that go round."""
    body = node.attributes["body"].as_graph()
    number, condition, *carried = body.inputs
    number.shape, number.type = ir.Shape([]), ir.TensorType(ir.DataType.INT64)
    condition.shape, condition.type = ir.Shape([]), ir.TensorType(ir.DataType.BOOL)
    condition.const_value = ir.Tensor(np.array(True))
    before = [_state(engine, value) for value in node.inputs[2:]]
    ends = body.outputs[1 : 1 + len(carried)]
    for value, inner, end in zip(node.inputs[2:], carried, ends, strict=False):
        inner.const_value = value.const_value if value is not None and end is inner else None
    states = _fixed_point(engine, body, carried, before, ends)
    times, why = loop_trips(engine, node, body)
    engine.bodies[node] = [Body("body", body, times, why)]
    for value, state, first, end in zip(node.outputs, states, before, ends, strict=False):
        last = first if times == 0 else _renamed(engine, state)
        _set(engine, value, replace(last, type=end.type or last.type))  # an optional that goes in may come out plain
    for value, row in zip(node.outputs[len(carried) :], body.outputs[1 + len(carried) :], strict=True):
        _set(engine, value, _piled(engine, _state(engine, row), times, why, 0))


def follow_scan(engine: Engine, node: ir.Node) -> None:
    """A Scan's body gets states that go round, and a slice of each scanned input."""
    body = node.attributes["body"].as_graph()
    batched = engine.model.opset < 9  # opset 8: a batch axis before all others, and lengths as the first input
    inputs = node.inputs[1:] if batched else node.inputs
    scanned = node.attributes["num_scan_inputs"].as_int()
    if not 0 < scanned <= len(inputs):
        raise ValueError(f"num_scan_inputs is {scanned}, and it has {len(inputs)} inputs")
    states = len(inputs) - scanned
    axes = _axes(node, "scan_input_axes", scanned, batched)
    times: Dim | None = None
    for value, inner, axis in zip(inputs[states:], body.inputs[states:], axes, strict=True):
        state, length = _sliced(engine, _state(engine, value), axis, batched)
        times = length if times is None else times
        _set(engine, inner, state)
    batch = _batch(engine, inputs) if batched else 1
    before = [_without_batch(_state(engine, value), batched) for value in inputs[:states]]
    stable = _fixed_point(engine, body, body.inputs[:states], before, body.outputs[:states])
    why = "" if times is not None else "the length of what it scans is not known"
    total = None if times is None or batch is None else batch * times
    engine.bodies[node] = [Body("body", body, total, why)]
    out_axes = _axes(node, "scan_output_axes", len(node.outputs) - states, batched)
    for value, state in zip(node.outputs, stable, strict=False):
        _set(engine, value, _with_batch(engine, _renamed(engine, state), batch, batched))
    for value, row, axis in zip(node.outputs[states:], body.outputs[states:], out_axes, strict=True):
        piled = _piled(engine, _state(engine, row), times, why, axis)
        _set(engine, value, _with_batch(engine, piled, batch, batched))


def follow_sequence_map(engine: Engine, node: ir.Node) -> None:
    """A SequenceMap's body gets one element of each sequence, and tensors as they are."""
    body = node.attributes["body"].as_graph()
    for value, inner in zip(node.inputs, body.inputs, strict=False):
        state = _state(engine, value)
        element = state.type.elem_type if isinstance(state.type, ir.SequenceType) else state.type
        _set(engine, inner, State(state.shape, element, state.why))  # a sequence keeps its elements' shape as its own
    _infer(engine, body)
    times = sequence_length(engine, node.inputs[0])
    why = "" if times is not None else "the length of its sequence is not known"
    engine.bodies[node] = [Body("body", body, times, why)]
    for value, end in zip(node.outputs, body.outputs, strict=True):
        state = _state(engine, end)
        _set(engine, value, State(state.shape, ir.SequenceType(state.type) if state.type else None, state.why))


def follow_flex_attention(engine: Engine, node: ir.Node) -> None:
    """The bodies of a FlexAttention change all scores at once, before and after their softmax."""
    q, k, v = (_state(engine, value) for value in node.inputs[:3])
    precision = node.attributes.get("softmax_precision")
    kind = ir.DataType(precision.as_int()) if precision else _wide(node.inputs[0])
    known = q.shape is not None and k.shape is not None
    scores = ir.Shape([*q.shape[:3], k.shape[2]]) if known else None  # type: ignore[index]
    bodies = [Body(name, node.attributes[name].as_graph(), 1) for name in MODIFIERS if name in node.attributes]
    for body in bodies:
        _set(engine, body.graph.inputs[0], State(scores, ir.TensorType(kind), q.why or k.why))
        _infer(engine, body.graph)
    engine.bodies[node] = bodies
    out = ir.Shape([*q.shape[:3], v.shape[3]]) if q.shape is not None and v.shape is not None else None
    _set(engine, node.outputs[0], State(out, q.type, q.why or v.why))


def _wide(value: ir.Value | None) -> ir.DataType:
    return ir.DataType.DOUBLE if value is not None and value.dtype == ir.DataType.DOUBLE else ir.DataType.FLOAT


MODIFIERS = ("score_mod", "prob_mod")
FOLLOW: Mapping[tuple[str, str], Follow] = {
    ("", "If"): follow_if,
    ("", "Loop"): follow_loop,
    ("", "Scan"): follow_scan,
    ("", "SequenceMap"): follow_sequence_map,
    ("ai.onnx.preview", "FlexAttention"): follow_flex_attention,
}


def _infer(engine: Engine, graph: ir.Graph) -> None:
    """Infer a body, forgetting the values of an earlier pass: it may have been inferred with other inputs."""
    todo = [graph]
    while todo:
        for node in todo.pop():
            for value in node.outputs:
                value.const_value = value.shape = None
                engine.context.forget(value)
                engine.why.pop(value, None)
            todo += [attr.as_graph() for attr in node.attributes.values() if attr.type == ir.AttributeType.GRAPH]
    engine.graph(graph)


def _fixed_point(
    engine: Engine, body: ir.Graph, carried: Sequence[ir.Value], before: list[State], ends: Sequence[ir.Value]
) -> list[State]:
    """Infer a body until what goes round has the shape that it came with; what differs is not known."""
    states = before
    for _ in range(MAX_PASSES):
        for value, state in zip(carried, states, strict=False):
            _set(engine, value, state)
        _infer(engine, body)
        after = [_merged(engine, state, _state(engine, end), CHANGES) for state, end in zip(states, ends, strict=False)]
        if [state.shape for state in after] == [state.shape for state in states]:
            return after
        states = after
    unknown = [State(None, state.type, CHANGES) for state in states]
    for value, state in zip(carried, unknown, strict=False):
        _set(engine, value, state)
    _infer(engine, body)
    return unknown


def _state(engine: Engine, value: ir.Value | None) -> State:
    if value is None:
        return State(None, None, "it is absent")
    return State(value.shape, value.type, engine.why.get(value, ""))


def _set(engine: Engine, value: ir.Value, state: State) -> None:
    value.shape, value.type = state.shape, state.type or value.type
    if state.shape is None:
        engine.why[value] = state.why or "its shape is not known"
    elif state.why:
        engine.why[value] = state.why


def _merged(engine: Engine, first: State, second: State, why: str) -> State:
    """What two states agree on. A dimension that is not known already in the first stays the same unknown."""
    type_ = first.type or second.type
    if first.shape is None or second.shape is None or len(first.shape) != len(second.shape):
        return State(None, type_, first.why or second.why or why)
    dims = [
        one if one == other or not engine.is_known(one) else engine.unknown(why)
        for one, other in zip(first.shape, second.shape, strict=True)
    ]
    return State(ir.Shape(dims), type_, first.why)


def _renamed(engine: Engine, state: State) -> State:
    """A state after its loop: what was not known inside is not known outside, and not the same."""
    if state.shape is None:
        return state
    dims = [dim if engine.is_known(dim) else engine.unknown(CHANGES) for dim in state.shape]
    return State(ir.Shape(dims), state.type, state.why)


def _piled(engine: Engine, row: State, times: Dim | None, why: str, axis: int) -> State:
    """What the rows of all iterations make, one on top of the other along an axis."""
    if row.shape is None:
        return row
    dims = [dim if engine.is_known(dim) else engine.unknown(CHANGES) for dim in row.shape]
    length = engine.unknown(why) if times is None else times if isinstance(times, int) else ir.SymbolicDim(times)
    dims.insert(axis % (len(dims) + 1), length)
    return State(ir.Shape(dims), row.type, row.why)


def _sliced(engine: Engine, whole: State, axis: int, batched: bool) -> tuple[State, Dim | None]:
    """One element of a scanned input, and how many there are."""
    if whole.shape is None:
        return whole, None
    dims = list(whole.shape)
    length = dims.pop(axis % len(dims))
    known = dim_of(length) if engine.is_known(length) else None
    return State(ir.Shape(dims[1:] if batched else dims), whole.type, whole.why), known


def _axes(node: ir.Node, name: str, count: int, batched: bool) -> Sequence[int]:
    attr = node.attributes.get(name)
    return attr.as_ints() if attr is not None else [1 if batched and name == "scan_input_axes" else 0] * count


def _batch(engine: Engine, inputs: Sequence[ir.Value | None]) -> Dim | None:
    for value in inputs:
        if value is not None and value.shape is not None:
            return dim_of(value.shape[0]) if engine.is_known(value.shape[0]) else None
    return None


def _without_batch(state: State, batched: bool) -> State:
    if not batched or state.shape is None:
        return state
    return State(ir.Shape(state.shape[1:]), state.type, state.why)


def _with_batch(engine: Engine, state: State, batch: Dim | None, batched: bool) -> State:
    return _piled(engine, state, batch, "its batch is not known", 0) if batched else state

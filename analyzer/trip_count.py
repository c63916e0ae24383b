"""How often the body of a loop runs: from constants, from shape arithmetic, or by playing its condition through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.counted_loop import count_starts, counted_trips
from neural_cost.analyzer.engine import GRAPHS, MAX_PLAYED, Engine
from neural_cost.analyzer.values import MAX_ELEMENTS, RANDOM, is_small

MAX_PLAYED_TRIPS = 4096  # a condition that is still true after so many is given up
MAX_PLAYED_NODES = 64
ONLY_A_RUN = "which only a run finds"

Feed = dict[str, np.ndarray[Any, Any]]


def loop_trips(engine: Engine, node: ir.Node, body: ir.Graph) -> tuple[Dim | None, str]:
    """Trips of a Loop whose body has been inferred, or None and the reason."""
    given = engine.sizes.trips.get(node.name or "")
    if given is not None:
        return given, ""
    most, start = node.inputs[0], node.inputs[1] if len(node.inputs) > 1 else None
    limit = engine.count(most)
    starts = _starts(engine, start)
    if starts is False or (isinstance(limit, int) and limit <= 0):
        return 0, ""
    if starts is None:
        return None, f'how often it runs depends on "{start.name if start else ""}", {ONLY_A_RUN}; {_advice(node)}'
    if engine.truth(body.outputs[0]) is True:
        name = most.name if most is not None else "nothing, it never ends"
        return (
            limit,
            "" if limit is not None else f'how often it runs depends on "{name}", {ONLY_A_RUN}; {_advice(node)}',
        )
    trips = counted_trips(engine, node, body, limit)
    trips = _play(engine, node, body, limit) if trips is None else trips
    return trips, "" if trips is not None else f"its condition depends on data; {_advice(node)}"


def _starts(engine: Engine, start: ir.Value | None) -> bool | None:
    truth = True if start is None else engine.truth(start)
    return count_starts(engine, start) if truth is None else truth


def sequence_length(engine: Engine, value: ir.Value | None) -> int | None:
    """Elements of a sequence, where the nodes that made it tell."""
    more = 0
    while value is not None and (node := value.producer()) is not None:
        match node.op_type:
            case "SequenceConstruct":
                return len(node.inputs) + more
            case "SequenceEmpty":
                return more
            case "SplitToSequence":
                parts = _parts(engine, node)
                return None if parts is None else parts + more
            case "SequenceInsert" | "SequenceErase":
                more += 1 if node.op_type == "SequenceInsert" else -1
            case "Identity" | "SequenceMap":
                pass
            case _:
                return None
        value = node.inputs[0]
    return None


def _advice(node: ir.Node) -> str:
    return f'say it with --trips "{node.name}=N"' if node.name else "give the node a name, then say it with --trips"


def _parts(engine: Engine, node: ir.Node) -> int | None:
    axis = node.attributes["axis"].as_int() if "axis" in node.attributes else 0
    shape = node.inputs[0].shape if node.inputs[0] is not None else None
    length = None if shape is None else shape[axis]
    if not isinstance(length, int):
        return None
    if len(node.inputs) < 2 or node.inputs[1] is None:
        return length
    split = engine.values.known(node.inputs[1])
    if split is None:
        return None
    return int(split.size) if split.ndim else -(-length // int(split.item()))


@dataclass(frozen=True, slots=True)
class Condition:
    """The part of a body that its condition depends on, over all iterations.

    Attributes:
        nodes: in order.
        carried: positions of the values that go round.
        outer: values from outside the body.
    """

    body: ir.Graph
    nodes: list[ir.Node]
    carried: list[int]
    outer: list[ir.Value]


def _play(engine: Engine, node: ir.Node, body: ir.Graph, limit: Dim | None) -> int | None:
    """Run the part of a body that its condition needs, on known values, until the condition is false."""
    playable = (limit is None or isinstance(limit, int)) and engine.played < MAX_PLAYED
    condition = _condition(body) if playable else None
    if condition is None:
        return None
    feed: Feed = {body.inputs[1].name or "": np.array(True)}
    values = {body.inputs[2 + i]: node.inputs[2 + i] for i in condition.carried}
    for inner, source in (values | {value: value for value in condition.outer}).items():
        array = engine.values.known(source)
        if array is None:
            return None
        feed[inner.name or ""] = array
    try:
        return _count(engine, condition, feed, limit)
    except Exception:  # the reference lacks an operator of it: the trips stay unknown, which is safe
        return None


def _condition(body: ir.Graph) -> Condition | None:
    """What the condition needs; None where that is too much, or random."""
    positions = {value: i for i, value in enumerate(body.inputs)}
    nodes: dict[ir.Node, None] = {}
    carried: dict[int, None] = {}
    outer: dict[ir.Value, None] = {}
    todo = [body.outputs[0]]
    while todo:
        value = todo.pop()
        producer = value.producer()
        if value in positions:
            index = positions[value] - 2
            if index >= 0 and index not in carried:
                carried[index] = None
                todo.append(body.outputs[1 + index])
        elif producer is None or producer.graph is not body:
            outer[value] = None
        elif producer not in nodes:
            nodes[producer] = None
            if len(nodes) > MAX_PLAYED_NODES or not _is_playable(producer):
                return None
            todo += [value for value in producer.inputs if value is not None]
    return Condition(body, [node for node in body if node in nodes], list(carried), list(outer))


def _is_playable(node: ir.Node) -> bool:
    """Whether a node gives the same small results each time: a shape that is not known may be a huge one."""
    if node.op_type in RANDOM or any(attr.type in GRAPHS for attr in node.attributes.values()):
        return False
    return all(is_small(value) for value in node.outputs if value.name)


def _count(engine: Engine, condition: Condition, feed: Feed, limit: int | None) -> int | None:
    import onnx
    from onnx.reference import ReferenceEvaluator

    body, carried = condition.body, condition.carried
    ends = [body.outputs[0], *(body.outputs[1 + i] for i in carried)]
    number = body.inputs[0].name or ""
    graph = onnx.helper.make_graph(
        [ir.to_proto(node) for node in condition.nodes],
        "condition",
        [onnx.ValueInfoProto(name=name) for name in {*feed, number}],
        [onnx.ValueInfoProto(name=value.name) for value in dict.fromkeys(ends)],
    )
    opsets = [onnx.helper.make_opsetid("", engine.model.opset)]
    evaluator = ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=opsets))
    most = MAX_PLAYED_TRIPS if limit is None else min(limit, MAX_PLAYED_TRIPS)
    for trip in range(most):
        engine.played += 1
        results = evaluator.run([value.name for value in ends], feed | {number: np.array(trip, np.int64)})
        if not bool(np.asarray(results[0]).item()):
            return trip + 1
        if any(np.asarray(result).size > MAX_ELEMENTS for result in results):
            return None
        feed |= {body.inputs[2 + i].name or "": np.asarray(r) for i, r in zip(carried, results[1:], strict=True)}
    return limit if limit == most else None

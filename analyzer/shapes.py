"""Shapes of a whole model: once with dimensions that nobody gave left open, once with every one a number.

Declared shapes inside the file are set aside first. They fill in for what inference cannot know, unless one of
them contradicts inference: then none of them is trusted, and the false ones are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import onnx_ir as ir

from neural_cost.analyzer.conditions import conditions
from neural_cost.analyzer.control_flow import FOLLOW
from neural_cost.analyzer.dimensions import Binding
from neural_cost.analyzer.engine import Declared, Engine, FalseShape, Sizes, dim_of
from neural_cost.analyzer.errors import DimensionError, closest, listed, quoted
from neural_cost.analyzer.fitting import fitting
from neural_cost.analyzer.load import Model
from neural_cost.analyzer.node import Dims
from neural_cost.analyzer.shape_mends import install
from neural_cost.analyzer.values import Array
from neural_cost.analyzer.views import Symbols


@dataclass(frozen=True, slots=True)
class Inference:
    """What is known of every value: numbers are on the engine's graph, expressions in `symbols`.

    `binding` is the one that was asked for, or where dimensions that nobody gave do not fit as 1, one that fits.
    """

    binding: Binding
    engine: Engine
    symbols: Symbols
    false_shapes: list[FalseShape]


def infer(model: Model, binding: Binding, trips: Mapping[str, int], *, upper: bool = False) -> Inference:
    """Infer every shape; `upper` takes the largest of what a size can be that only a run finds.

    Raises:
        DimensionError: sizes that the user gave contradict the graph, or are given for what has none to give.
    """
    install()
    _check_trips(model, trips)
    declared = _set_aside(model.ir.graph)
    trusted = {} if binding.overrides else declared
    symbols = Symbols()
    if binding.assumed:
        open_sizes = Sizes(binding.symbolic_inputs, binding.symbolic_dims, trips, binding.found, upper)
        engine = _pass(model, open_sizes, trusted)
        symbols = _symbols(model, binding, engine)
        _set_aside(model.ir.graph)
    engine, false_shapes = _numbers(model, binding, trusted, trips, upper)
    misfit = engine.contradictions and not binding.overrides
    if misfit and (sizes := _fitting(model, symbols)) is not None:
        _set_aside(model.ir.graph)
        binding = binding.assuming(sizes)
        symbols = replace(symbols, at=sizes)
        engine, false_shapes = _numbers(model, binding, trusted, trips, upper)
    _check_found(model, binding, engine)
    if binding.given and engine.contradictions:
        _refuse(model, binding, *engine.contradictions[0])
    return Inference(binding, engine, symbols, false_shapes)


def _numbers(
    model: Model, binding: Binding, declared: Declared, trips: Mapping[str, int], upper: bool
) -> tuple[Engine, list[FalseShape]]:
    """The pass with every dimension a number; once more where the file declares false shapes."""
    sizes = Sizes(binding.inputs, binding.dims, trips, binding.found, upper)
    engine = _pass(model, sizes, declared)
    false_shapes = engine.false_shapes
    if false_shapes:
        _set_aside(model.ir.graph)
        engine = _pass(model, sizes, {})
    return engine, false_shapes


def _fitting(model: Model, symbols: Symbols) -> dict[str, int] | None:
    """Sizes at which the graph fits, for those that nobody gave: a window may be larger than a single pixel."""
    return fitting(conditions(graphs_of(model.ir.graph), symbols), symbols.at) if symbols.at else None


def _pass(model: Model, sizes: Sizes, declared: Declared) -> Engine:
    engine = Engine(model, sizes, declared, FOLLOW)
    engine.run()
    return engine


def _symbols(model: Model, binding: Binding, engine: Engine) -> Symbols:
    """Keep what the pass with open dimensions has found, before the next one overwrites it."""
    shapes: dict[ir.Value, Dims | None] = {}
    values: dict[ir.Value, Array] = {}
    for value in _values(model.ir.graph):
        if value.dtype is not None and (small := engine.values.ints(value, value.dtype)) is not None:
            values[value] = small
        shape = value.shape
        known = None if shape is None else [dim_of(dim) for dim in shape.dims]
        shapes[value] = None if known is None else tuple(known)
    times = {body.graph: body.times for bodies in engine.bodies.values() for body in bodies}
    for node, bodies in engine.bodies.items():
        if node.op_type == "If" and len(bodies) > 1:  # which of them runs depends on sizes
            times.update(dict.fromkeys((body.graph for body in bodies), None))
    at = {str(binding.symbolic_dims[name]): binding.dims[name] for name in binding.assumed}
    return Symbols(shapes, values, times, at, binding.names | engine.names)


def graphs_of(graph: ir.Graph) -> Iterator[ir.Graph]:
    """A graph, and the bodies in it at any depth."""
    todo = [graph]
    while todo:
        current = todo.pop()
        yield current
        for node in current:
            todo += [a.as_graph() for a in node.attributes.values() if a.type == ir.AttributeType.GRAPH]


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    for each in graphs_of(graph):
        yield from each.inputs
        for node in each:
            yield from node.outputs


def _set_aside(graph: ir.Graph) -> dict[ir.Value, tuple[ir.Shape | None, ir.TypeProtocol | None]]:
    """Take every declared shape off the values that nodes make, and what an earlier inference left."""
    declared = {}
    for each in graphs_of(graph):
        for value in each.inputs if each is not graph else ():
            value.shape = value.const_value = None
        for node in each:
            held = node.op_type == "Constant"
            for value in node.outputs:
                declared[value] = (value.shape, value.type)
                value.shape = value.type = None
                if not held:
                    value.const_value = None
    return declared


def _check_trips(model: Model, trips: Mapping[str, int]) -> None:
    loops = (
        [node.name for graph in graphs_of(model.ir.graph) for node in graph if node.op_type == "Loop"] if trips else []
    )
    for name, count in trips.items():
        if name not in loops:
            known = [loop for loop in loops if loop]
            meant = closest(name, known)
            raise DimensionError(f"{model.path} has no Loop node {quoted(name)}{meant}; it has: {listed(known)}.")
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise DimensionError(f"{model.path}: the trips of {quoted(name)} must be a whole number, not {count}.")


def _check_found(model: Model, binding: Binding, engine: Engine) -> None:
    for name in binding.found:
        if name not in engine.found:
            known = engine.names.values()
            raise DimensionError(
                f"{model.path}: {quoted(name)} is no size that only a run finds{closest(name, known)}; those that can "
                f"be given are: {listed(known)}."
            )


def _refuse(model: Model, binding: Binding, node: ir.Node, wrong: str) -> None:
    taken = listed(f"{name} taken as {binding.dims[name]}" for name in binding.assumed)
    assumed = f" (with {taken})" if binding.assumed else ""
    name = node.name or (node.outputs[0].name if node.outputs else "")
    raise DimensionError(
        f"{model.path}: the sizes given contradict the graph at {node.op_type} node {quoted(name)}: "
        f"{quoted(wrong, 300)[1:-1]}{assumed}; give others."
    )

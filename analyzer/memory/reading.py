"""From an inferred model to what memory sees of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import onnx_ir as ir

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.engine import Body, Engine
from neural_cost.analyzer.memory.kernels import Traits, traits
from neural_cost.analyzer.memory.scope import Inner, Key, Scope, Step
from neural_cost.analyzer.node import Tensor, Unknown
from neural_cost.analyzer.views import Views


@dataclass(frozen=True, slots=True)
class Activations:
    """The graph of a model, and the tensors in it.

    Attributes:
        unknown: why a figure cannot be known, where that is so: a size that is missing, a body that cannot be followed.
    """

    scope: Scope
    tensors: Mapping[Key, Tensor]
    unknown: str = ""

    def sizes(self) -> dict[Key, int]:
        """Bytes of each tensor in numbers."""
        return {key: tensor.bytes for key, tensor in self.tensors.items()}

    def opened(self) -> dict[Key, Dim] | None:
        """The same as expressions of the open dimensions; None where one has none."""
        try:
            return {key: tensor.opened.bytes for key, tensor in self.tensors.items()}
        except Unknown:
            return None

    def forms(self) -> dict[Key, Hashable]:
        """Shapes with the bits of an element, but for scalars. An open dimension is the same as itself alone."""
        return {
            key: (tensor.opened.dims, tensor.bits) for key, tensor in self.tensors.items() if tensor.opened.dims != ()
        }


def activations(views: Views) -> Activations:
    """Read the graph that a pass of inference has left."""
    reader = _Reader(views, set(views.engine.constant))
    graph = views.engine.model.ir.graph
    scope = reader.scope(graph, [value for value in graph.inputs if value.name not in graph.initializers])
    return Activations(scope, reader.tensors, next(iter(reader.unknown), ""))


@dataclass
class _Reader:
    views: Views
    weights: set[ir.Value]  # constants, and views of them
    tensors: dict[Key, Tensor] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    traits: dict[tuple[str, str], Traits] = field(default_factory=dict)

    @property
    def engine(self) -> Engine:
        return self.views.engine

    def scope(self, graph: ir.Graph, inputs: Sequence[ir.Value]) -> Scope:
        """One graph, without what depends on constants alone: that is weights, made before a run."""
        places = self.engine.model.file_index if graph is self.engine.model.ir.graph else {}
        ends = frozenset(graph.outputs)
        steps = []
        weights = self.weights
        for at, node in enumerate(graph):
            traits = self._traits_of(node)
            if traits.view and _viewed(node) in weights:
                weights.update(value for value in node.outputs if value not in ends)
            for value in node.outputs:
                if value not in weights:
                    steps.append(self._step(node, places.get(node, at), traits))
                    break
        made = {key for step in steps for key in step.writes}
        held = dict.fromkeys(value for value in graph.outputs if value in made)
        return Scope(tuple(steps), tuple(self._known(inputs)), tuple(held))

    def _traits_of(self, node: ir.Node) -> Traits:
        key = (node.domain, node.op_type)
        found = self.traits.get(key)
        if found is None:
            domain = _domain(node)
            version = self.engine.model.ir.opset_imports.get(domain, 1)
            found = self.traits[key] = traits(domain, node.op_type, version)
        return found

    def _step(self, node: ir.Node, index: int, traits: Traits) -> Step:
        engine = self.views.engine
        writes = tuple(self._known(node.outputs))
        if node in engine.stuck:
            self.unknown.append(f'{node.op_type} node "{node.name or index}": {engine.stuck[node]}')
        bodies = engine.bodies.get(node, ())
        views = traits.view and len(writes) == 1 and (viewed := _viewed(node)) is not None
        step = Step(
            index,
            node.name or str(index),
            node.op_type,
            self._reads(node, bodies),
            writes,
            traits if views and viewed not in self.weights else traits.without_view,
        )
        if not bodies:
            return step
        inner = tuple([self._body(node, body) for body in bodies])
        return replace(step, bodies=inner, exclusive=node.op_type == "If" and len(bodies) > 1, piled=_piled(node))

    def _reads(self, node: ir.Node, bodies: Sequence[Body]) -> tuple[Key, ...]:
        """Its inputs, and what its bodies use of the graph around them."""
        weights = self.weights
        read = dict.fromkeys(node.inputs)
        for body in bodies:
            read.update(dict.fromkeys(_captured(body.graph)))
        return tuple([value for value in read if value is not None and value not in weights and value.name])

    def _body(self, node: ir.Node, body: Body) -> Inner:
        inputs = [value for value in body.graph.inputs if value not in self.weights]
        scope = self.scope(body.graph, inputs)
        first = 2 if node.op_type == "Loop" else 0  # the number of the iteration and its condition are the loop's own
        scans = node.attributes.get("num_scan_inputs")
        scanned = body.graph.inputs[len(body.graph.inputs) - scans.as_int() :] if scans is not None else ()
        return Inner(body.name, scope, self.views.times(body), frozenset(body.graph.inputs[first:]), frozenset(scanned))

    def _known(self, values: Sequence[ir.Value]) -> Iterator[Key]:
        for value in values:
            tensor = self.views.tensor(value)
            if tensor is None or value in self.weights:
                continue
            try:
                _ = tensor.bytes
            except Unknown as unknown:
                self.unknown.append(f'"{tensor.name}": {unknown.why}')
            self.tensors[value] = tensor
            yield value


def _viewed(node: ir.Node) -> ir.Value | None:
    """What a view is a view of; None for an Optional that holds nothing."""
    value = node.inputs[0] if node.inputs else None
    return value if value is not None and value.name else None


def _domain(node: ir.Node) -> str:
    return "" if node.domain == "ai.onnx" else node.domain


def _piled(node: ir.Node) -> tuple[Key, ...]:
    """Scan outputs of a Loop: ONNX Runtime keeps what each iteration gives, and joins them after the last."""
    if node.op_type != "Loop":
        return ()
    return tuple(value for value in node.outputs[len(node.inputs) - 2 :] if value.name)


def _captured(graph: ir.Graph) -> Iterator[ir.Value]:
    """Values that a body, or a body inside it, uses and that are of a graph around it."""
    graphs = [graph]
    own: set[ir.Value] = set()
    used: list[ir.Value] = []
    while graphs:
        current = graphs.pop()
        own.update(current.inputs)
        own.update(current.initializers.values())
        used.extend(current.outputs)
        for node in current:
            own.update(node.outputs)
            used += [value for value in node.inputs if value is not None]
            graphs += [attr.as_graph() for attr in node.attributes.values() if attr.type == ir.AttributeType.GRAPH]
    yield from (value for value in used if value not in own and value.name)

"""Shape inference: node by node through onnx_shape_inference's registry, going on past what fails.

Declared shapes inside the file are set aside first. They fill in for what inference cannot know, unless one of
them contradicts inference: then none of them is trusted, and the false ones are reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext, registry

from neural_cost.analyzer.dimensions import Binding
from neural_cost.analyzer.errors import DimensionError
from neural_cost.analyzer.load import Model
from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.shape_checks import contradiction
from neural_cost.analyzer.shape_mends import install
from neural_cost.analyzer.values import RANDOM, Array, fold, known

Declared = dict[ir.Value, tuple[ir.Shape | None, ir.TypeProtocol | None]]


@dataclass(frozen=True, slots=True)
class FalseShape:
    """A shape that the file declares and inference contradicts."""

    tensor: str
    declared: list[int | str]
    inferred: list[int | str]


@dataclass(slots=True)
class Inference:
    """What is known of every tensor, and why the rest is not."""

    why: dict[ir.Value, str] = field(default_factory=dict)
    constant: set[ir.Value] = field(default_factory=set)
    taken: dict[ir.Node, ir.Graph] = field(default_factory=dict)
    false_shapes: list[FalseShape] = field(default_factory=list)

    def tensor(self, value: ir.Value | None) -> Tensor | None:
        """View of a value for a cost rule; None for an absent one."""
        if value is None or not value.name:
            return None
        dims = value.shape
        shape = (
            None
            if dims is None or any(not isinstance(d, int) for d in dims)
            else tuple(d for d in dims if isinstance(d, int))
        )
        why = "" if shape is not None else self.why.get(value, "its shape is not known")
        return Tensor(value.name, dtype_name(value), shape, why, value in self.constant, _small_ints(value))


def infer(model: Model, binding: Binding) -> Inference:
    """Infer every shape with the inputs bound to numbers.

    Raises:
        DimensionError: sizes that the user gave contradict the graph.
    """
    install()
    declared = _set_aside(model.ir.graph)
    _bind_inputs(model, binding)
    inference = _Engine(model, binding, {} if binding.overrides else declared).run()
    if not inference.false_shapes:
        return inference
    _set_aside(model.ir.graph)
    _bind_inputs(model, binding)
    again = _Engine(model, binding, {}).run()
    again.false_shapes = inference.false_shapes
    return again


def dtype_name(value: ir.Value) -> str | None:
    """Element type in lower case, as "float32"; "sequence(float32)" for a sequence."""
    if value.dtype is None:
        return None
    name = {"FLOAT": "float32", "DOUBLE": "float64"}.get(value.dtype.name, value.dtype.name.lower())
    if isinstance(value.type, ir.SequenceType):
        return f"sequence({name})"
    return f"optional({name})" if isinstance(value.type, ir.OptionalType) else name


def _small_ints(value: ir.Value) -> Array | None:
    if value.const_value is None and (node := value.producer()) is not None and node.op_type != "Constant":
        return None
    if value.dtype is None or not (value.dtype.is_integer() or value.dtype == ir.DataType.BOOL):
        return None
    return known(value)


def _graphs(graph: ir.Graph) -> Iterator[ir.Graph]:
    todo = [graph]
    while todo:
        current = todo.pop()
        yield current
        for node in current:
            todo += [a.as_graph() for a in node.attributes.values() if a.type == ir.AttributeType.GRAPH]


def _set_aside(graph: ir.Graph) -> Declared:
    """Take every declared shape off the values that nodes make, and what an earlier inference left."""
    declared: Declared = {}
    for each in _graphs(graph):
        for node in each:
            for value in node.outputs:
                declared[value] = (value.shape, value.type)
                value.shape = value.type = None
                if node.op_type != "Constant":
                    value.const_value = None
    return declared


def _bind_inputs(model: Model, binding: Binding) -> None:
    for value in model.ir.graph.inputs:
        shape = binding.inputs.get(value.name or "")
        if shape is not None:
            value.shape = ir.Shape(shape)


class _Engine:
    """One pass over the graph in order."""

    def __init__(self, model: Model, binding: Binding, declared: Declared) -> None:
        self.model = model
        self.binding = binding
        self.declared = declared
        self.found = Inference()
        self.context = ShapeInferenceContext(model.ir.opset_imports, policy="override")
        self.origin: dict[str, str] = {}

    def run(self) -> Inference:
        self.graph(self.model.ir.graph)
        return self.found

    def graph(self, graph: ir.Graph) -> None:
        for value in graph.initializers.values():
            if value.const_value is not None:
                value.shape = ir.Shape(list(value.const_value.shape.numpy()))
                value.dtype = value.const_value.dtype
            self.found.constant.add(value)
        for value in graph.inputs:
            if value.shape is None and value not in self.found.constant:
                self.found.why[value] = "the file gives no shape for this input; give it with --shape"
        for node in graph:
            self.node(node)

    def node(self, node: ir.Node) -> None:
        if self.is_constant(node):
            self.found.constant.update(node.outputs)
        why = self.branch(node) if node.op_type in ("If", "Loop", "Scan", "SequenceMap") else self.apply(node)
        wrong = contradiction(node)
        if wrong is not None:
            self.contradicted(node, wrong)
            why = wrong
            for value in node.outputs:
                value.shape = None
        self.settle(node, why)
        fold(node, self.model.opset)

    def is_constant(self, node: ir.Node) -> bool:
        if node.op_type in RANDOM and node.op_type != "Dropout":
            return False
        if any(a.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS) for a in node.attributes.values()):
            return False
        return all(value is None or value in self.found.constant for value in node.inputs)

    def apply(self, node: ir.Node) -> str | None:
        """Run the registered inference of an operator; the reason where that is not possible."""
        domain = "" if node.domain == "ai.onnx" else node.domain
        function = registry.get(domain, node.op_type, version=self.context.get_opset_version(domain))
        if function is None:
            return f"no shape inference is known for {domain or 'ai.onnx'}::{node.op_type}"
        blank = next(
            (v for v in node.inputs if v is not None and v.name and v.shape is None and v in self.found.why), None
        )
        try:
            function(self.context, node)
        except Exception as error:
            if blank is not None:
                return f'depends on "{blank.name}": {self.found.why[blank]}'
            return f"shape inference of {node.op_type} failed: {str(error).splitlines()[0] if str(error) else error!r}"
        if any(value.name and value.shape is None for value in node.outputs) and blank is not None:
            return f'depends on "{blank.name}": {self.found.why[blank]}'
        return None

    def branch(self, node: ir.Node) -> str | None:
        """An If with a constant condition is the branch that it takes; other bodies are not followed yet."""
        condition = known(node.inputs[0]) if node.op_type == "If" and node.inputs else None
        if condition is None or condition.size != 1:
            return f"how often the body of {node.op_type} runs is not known from the graph"
        body = node.attributes["then_branch" if condition.item() else "else_branch"].as_graph()
        self.found.taken[node] = body
        self.graph(body)
        for value, inner in zip(node.outputs, body.outputs, strict=False):
            value.shape, value.type = inner.shape, inner.type
            if inner in self.found.why:
                self.found.why[value] = self.found.why[inner]
        return None

    def settle(self, node: ir.Node, why: str | None) -> None:
        """Fill in what the file declares, and keep the reason for what stays unknown."""
        for value in node.outputs:
            if not value.name:
                continue
            shape, type_ = self.declared.get(value, (None, None))
            if value.type is None and type_ is not None:
                value.type = type_
            if shape is not None:
                self.declare(value, shape)
            self.explain(node, value, why)

    def declare(self, value: ir.Value, declared: ir.Shape) -> None:
        if value.shape is None:
            value.shape = ir.Shape([self.number(dim) for dim in declared])
            return
        inferred = list(value.shape)
        false = len(inferred) != len(declared) or any(
            isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(inferred, declared, strict=False)
        )
        if false:
            self.found.false_shapes.append(FalseShape(value.name or "", _plain(declared), _plain(value.shape)))
        elif any(not isinstance(dim, int) for dim in inferred):
            pairs = zip(inferred, declared, strict=True)
            value.shape = ir.Shape([a if isinstance(a, int) else self.number(b) for a, b in pairs])

    def number(self, dim: int | ir.SymbolicDim) -> int | ir.SymbolicDim:
        """A declared dimension in numbers: named ones as bound; one that no input has stays unknown."""
        if isinstance(dim, int):
            return dim
        size = self.binding.dims.get(str(dim.value)) if dim.value else None
        return size if size is not None else self.context.new_symbolic_dim()

    def explain(self, node: ir.Node, value: ir.Value, why: str | None) -> None:
        if value.shape is None:
            self.found.why.setdefault(value, why or f"the shape of what {node.op_type} makes is not known")
            return
        symbols = [str(dim) for dim in value.shape if not isinstance(dim, int)]
        if symbols:
            text = why or f'a size that {node.op_type} node "{node.name or value.name}" only finds in a run'
            self.found.why[value] = next((self.origin[s] for s in symbols if s in self.origin), text)
            for symbol in symbols:
                self.origin.setdefault(symbol, self.found.why[value])

    def contradicted(self, node: ir.Node, wrong: str) -> None:
        if not self.binding.given:
            return
        assumed = f" (with {', '.join(self.binding.assumed)} taken as 1)" if self.binding.assumed else ""
        raise DimensionError(
            f"{self.model.path}: the sizes given contradict the graph at {node.op_type} node "
            f'"{node.name or (node.outputs[0].name if node.outputs else "")}": {wrong}{assumed}; give others.'
        )


def _plain(shape: ir.Shape) -> list[int | str]:
    return [dim if isinstance(dim, int) else str(dim) for dim in shape]

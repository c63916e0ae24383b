"""One pass of shape inference: node by node through onnx_shape_inference's registry, going on past what fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext, registry

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.errors import quoted
from neural_cost.analyzer.found_sizes import most, size_name
from neural_cost.analyzer.load import Model
from neural_cost.analyzer.shape_checks import contradiction
from neural_cost.analyzer.shape_mends import Context, TooManySymbols, is_long
from neural_cost.analyzer.values import RANDOM, Array, Values

Declared = Mapping[ir.Value, tuple[ir.Shape | None, ir.TypeProtocol | None]]
Infer = Callable[[ShapeInferenceContext, ir.Node], None]
Follow: TypeAlias = "Callable[[Engine, ir.Node], None]"
GRAPHS = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
DEPENDS = "depends on"
SHORT = 32  # parts of an expression that holds what is not known: no more are kept
MAX_LONG = 100  # nodes with longer expressions, each of which takes its time: from then on none is kept
LONG = "the expression of its size has grown too long"
MAX_VISITS = 200_000  # of nodes in bodies, each as often as its body is inferred: deep nesting multiplies that
MAX_PLAYED = 16_384  # trips of loops that are played through, all loops of a model together


@dataclass(frozen=True, slots=True)
class FalseShape:
    """A shape that the file declares and inference contradicts."""

    tensor: str
    declared: list[int | str]
    inferred: list[int | str]


@dataclass(frozen=True, slots=True)
class Body:
    """A subgraph, and how often one execution of its node runs it: None where that is not known, and `why`."""

    name: str
    graph: ir.Graph
    times: Dim | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a pass starts from: dimensions are numbers, or names in the pass that keeps them open.

    Attributes:
        inputs: the shape of each graph input; None where the file gives none.
        dims: what the names of the file's dimensions stand for.
        trips: how often the body of a Loop runs, by the name of its node, where a user says it.
        found: sizes that only a run finds, by `tensor:axis`, where a user says them.
        upper: take the largest that such a size can be, where something limits it.
    """

    inputs: Mapping[str, tuple[int | str, ...] | None]
    dims: Mapping[str, int | str]
    trips: Mapping[str, int] = field(default_factory=dict)
    found: Mapping[str, int] = field(default_factory=dict)
    upper: bool = False


class Engine:
    """Infers a graph in order. Shapes, types and small values are left on the graph's own values.

    `follow` says how the bodies of control flow are inferred, by operator.
    """

    def __init__(
        self, model: Model, sizes: Sizes, declared: Declared, follow: Mapping[tuple[str, str], Follow]
    ) -> None:
        self.model = model
        self.sizes = sizes
        self.declared = declared
        self.follow = follow
        self.context = Context(model.ir.opset_imports, policy="override")
        self.context.reserve_symbol_names(str(dim) for dim in sizes.dims.values())
        self.values = Values(model.opset)
        self.why: dict[ir.Value, str] = {}
        self.constant: set[ir.Value] = set()
        self.bodies: dict[ir.Node, Sequence[Body]] = {}
        self.stuck: dict[ir.Node, str] = {}  # nodes whose bodies could not be followed
        self.found: dict[str, int] = {}  # sizes that only a run finds, as they were taken
        self.names: dict[str, str] = {}  # of the symbols that stand for such sizes
        self.false_shapes: list[FalseShape] = []
        self.contradictions: list[tuple[ir.Node, str]] = []
        self._origin: dict[str, str] = {}
        self._functions: dict[tuple[str, str], Infer | None] = {}
        self.played = 0  # trips of loops, played through
        self._long = 0
        self._visits = 0  # of nodes in bodies

    def run(self) -> None:
        """Infer the whole model."""
        for value in self.model.ir.graph.inputs:
            shape = self.sizes.inputs.get(value.name or "")
            if shape is not None:
                value.shape = ir.Shape(shape)
            elif value.shape is None and value.name in self.sizes.inputs:
                self.why[value] = "the file gives no shape for this input; give it with --shape"
        self.graph(self.model.ir.graph)

    def graph(self, graph: ir.Graph) -> None:
        """Infer one graph, whose inputs have their shapes."""
        for value in graph.initializers.values():
            if value.const_value is not None:
                value.shape = value.const_value.shape  # type: ignore[assignment]
                value.dtype = value.const_value.dtype
            self.constant.add(value)
        for node in graph:
            self.node(node)
        if graph is not self.model.ir.graph:
            self._visits += len(graph)

    def node(self, node: ir.Node) -> None:
        """Infer one node, and the bodies that it runs."""
        if self._is_constant(node):
            self.constant.update(node.outputs)
        follow = self.follow.get(("" if node.domain == "ai.onnx" else node.domain, node.op_type))
        why = self._apply(node) if follow is None else self._follow(node, follow)
        if not all(value.shape is None or value.shape.is_static() for value in node.outputs):
            self._name_sizes(node)
        wrong = contradiction(node)
        if wrong is not None:
            self.contradictions.append((node, wrong))
            why = wrong
            for value in node.outputs:
                value.shape = None
        for value in node.outputs:
            if value.name:
                self.settle(value, node, why)
        self.values.fold(node)

    def count(self, value: ir.Value | None) -> Dim | None:
        """The one element of an integer tensor, as a number or an expression; None where it is not known."""
        data = None if value is None else self.context.get_symbolic_value(value)
        if data is None:
            array = self.values.known(value)
            return int(array.item()) if array is not None and array.size == 1 else None
        return dim_of(data[0]) if len(data) == 1 and self.is_known(data[0]) else None

    def truth(self, value: ir.Value | None) -> bool | None:
        """The one element of a boolean tensor; None where it is not known."""
        array: Array | None = self.values.known(value)
        return bool(array.item()) if array is not None and array.size == 1 else None

    def is_known(self, dim: int | ir.SymbolicDim) -> bool:
        """Whether a dimension is a number, or made of the names that this pass keeps open."""
        if isinstance(dim, int):
            return True
        return dim.value is not None and not any(map(self.context.is_generated_symbol, dim.free_symbols()))

    def unknown(self, why: str) -> ir.SymbolicDim:
        """A dimension that is not known, and why."""
        dim: ir.SymbolicDim = self.context.new_symbolic_dim()
        self._origin[str(dim.value)] = why
        return dim

    def _is_constant(self, node: ir.Node) -> bool:
        for value in node.inputs:
            if value is not None and value not in self.constant:
                return False
        if node.op_type in RANDOM and node.op_type != "Dropout":
            return False
        return not any(attr.type in GRAPHS for attr in node.attributes.values())

    def _apply(self, node: ir.Node) -> str | None:
        """Run the registered inference of an operator; the reason where that is not possible."""
        function = self._function(node)
        if function is None:
            return f"no shape inference is known for {node.domain or 'ai.onnx'}::{node.op_type}"
        self.context.begin()
        try:
            function(self.context, node)
        except TooManySymbols:  # what it has set before is whole
            self.context.begin()
            return self._blank_input(node)
        except Exception as error:
            for value in node.outputs:
                value.shape = None  # what was set before it failed is half an answer
            why = self._blank_input(node)
            return why or f"shape inference of {node.op_type} failed: {_line(error)}"
        if node.op_type == "Constant":
            self.values.hold(node)
        for value in node.outputs:
            if value.name and value.shape is None:
                return self._blank_input(node)
        return None

    def _follow(self, node: ir.Node, follow: Follow) -> str | None:
        """Infer the bodies of control flow; the reason where that is not possible."""
        why = "its bodies are nested too deep to be followed"
        try:
            if self._visits < MAX_VISITS:
                follow(self, node)
                return None
        except Exception as error:
            why = f"the node does not have the form that {node.op_type} requires ({_line(error)})"
        self.bodies.pop(node, None)
        self.stuck[node] = why
        for value in node.outputs:
            value.shape = value.const_value = None  # what was set before it failed is half an answer
        return why

    def _function(self, node: ir.Node) -> Infer | None:
        key = (node.domain, node.op_type)
        if key not in self._functions:
            domain = "" if node.domain == "ai.onnx" else node.domain
            version = self.context.get_opset_version(domain)
            self._functions[key] = registry.get(domain, node.op_type, version=version)
        return self._functions[key]

    def _blank_input(self, node: ir.Node) -> str | None:
        for value in node.inputs:
            if value is not None and value.name and value.shape is None and value in self.why:
                why = self.why[value]  # the first cause is told, not the way from it
                return why if why.startswith(DEPENDS) else f'{DEPENDS} "{value.name}": {why}'
        return None

    def _name_sizes(self, node: ir.Node) -> None:
        """Name each size that this node is the first to have, and put the number there that a user gave."""
        taken: dict[str, int] = {}
        self._cut_long(node)
        for value in node.outputs:
            for axis, dim in enumerate(value.shape or ()):
                symbol = "" if isinstance(dim, int) else str(dim.value)
                if not self.context.is_generated_symbol(symbol) or symbol in self.names:
                    continue
                name = self.names[symbol] = size_name(value, axis)
                size = self.sizes.found.get(name)
                if size is None and self.sizes.upper:
                    size = most(self.values, node, axis)
                if size is not None:
                    taken[symbol] = self.found[name] = size
        if taken:
            for value in node.outputs:
                if value.shape is not None:
                    value.shape = ir.Shape([taken.get(str(dim), dim) for dim in value.shape])

    def _cut_long(self, node: ir.Node) -> None:
        """Let expressions that outgrow all use become sizes that are not known."""
        for value in node.outputs:
            if value.shape is not None and any(is_long(dim, SHORT) for dim in value.shape):
                self._long += 1
                dims = [self.unknown(LONG) if self._is_useless(dim) else dim for dim in value.shape]
                value.shape = ir.Shape(dims)

    def _is_useless(self, dim: int | ir.SymbolicDim) -> bool:
        if not is_long(dim, SHORT):
            return False
        return self._long > MAX_LONG or is_long(dim) or not self.is_known(dim)

    def settle(self, value: ir.Value, node: ir.Node, why: str | None) -> None:
        """Fill in what the file declares, and keep the reason for what stays unknown."""
        shape, type_ = self.declared.get(value, (None, None))
        if value.type is None and type_ is not None:
            value.type = type_
        if shape is not None:
            self._declare(value, shape)
        if value.shape is None:
            self.why.setdefault(value, why or f"the shape of what {node.op_type} makes is not known")
        elif not value.shape.is_static():
            self._explain(value, node, why)

    def _declare(self, value: ir.Value, declared: ir.Shape) -> None:
        if value.shape is None:
            value.shape = ir.Shape([self._meaning(dim) for dim in declared])
            return
        inferred = value.shape.dims
        false = len(inferred) != len(declared) or any(
            isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(inferred, declared, strict=False)
        )
        if false:
            self.false_shapes.append(FalseShape(value.name or "", _plain(declared), _plain(value.shape)))
        elif not all(map(self.is_known, inferred)):
            pairs = zip(inferred, declared, strict=True)
            value.shape = ir.Shape([a if self.is_known(a) else self._meaning(b, a) for a, b in pairs])

    def _meaning(self, dim: int | ir.SymbolicDim, other: ir.SymbolicDim | int | None = None) -> int | ir.SymbolicDim:
        """What a declared dimension stands for; a name that no input has stays unknown."""
        if isinstance(dim, int):
            return dim
        size = self.sizes.dims.get(str(dim.value)) if dim.value else None
        if size is not None:
            return size if isinstance(size, int) else ir.SymbolicDim(size)
        return other if other is not None else self.context.new_symbolic_dim()

    def _explain(self, value: ir.Value, node: ir.Node, why: str | None) -> None:
        """Trace each size that is not known back to the node that made it."""
        assert value.shape is not None
        symbols = [name for dim in value.shape for name in self._unknown_symbols(dim)]
        if symbols:
            text = why or f'a size that {node.op_type} node "{node.name or value.name}" only finds in a run'
            name = next((self.names[name] for name in symbols if name in self.names), None)
            text += f'; give it with --dim "{name}=N"' if name else ""
            self.why[value] = next((self._origin[name] for name in symbols if name in self._origin), text)
            for name in symbols:
                self._origin.setdefault(name, self.why[value])

    def _unknown_symbols(self, dim: int | ir.SymbolicDim) -> Iterator[str]:
        if not isinstance(dim, int):
            yield from (name for name in dim.free_symbols() if self.context.is_generated_symbol(name))


def _line(error: Exception) -> str:
    return quoted((str(error).splitlines() or [repr(error)])[0], 200)[1:-1]


def dim_of(dim: int | ir.SymbolicDim) -> Dim | None:
    """A dimension as a rule computes with it: a number, or an expression."""
    if isinstance(dim, int):
        return dim
    return dim._expr  # onnx_ir keeps the expression there, and has no public way to it


def _plain(shape: ir.Shape) -> list[int | str]:
    return [dim if isinstance(dim, int) else str(dim) for dim in shape]

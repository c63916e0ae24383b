"""Graph values and nodes as cost rules see them, once inference is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx_ir as ir

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.engine import Body, Engine, dim_of
from neural_cost.analyzer.node import Dims, Node, Tensor
from neural_cost.analyzer.values import Array


@dataclass(frozen=True, slots=True)
class Symbols:
    """What the pass with open dimensions found: shapes and trips as expressions, values that do not depend on them.

    `at` is what the symbols stand for in the numbers, `names` the file's own names of those that could not bear them.
    """

    shapes: Mapping[ir.Value, Dims | None] = field(default_factory=dict)
    values: Mapping[ir.Value, Array] = field(default_factory=dict)
    times: Mapping[ir.Graph, Dim | None] = field(default_factory=dict)
    at: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


class Views:
    """Makes each view once."""

    def __init__(self, engine: Engine, symbols: Symbols, *, causal_half: bool = False) -> None:
        self.engine = engine
        self.causal_half = causal_half
        self.symbols = symbols
        self._opsets = engine.model.ir.opset_imports
        self._tensors: dict[ir.Value, Tensor] = {}
        self._evaluated: dict[Any, Any] = {}
        self._renamed: dict[Any, Any] = {}
        self._names = symbols.names or engine.names

    def tensor(self, value: ir.Value | None) -> Tensor | None:
        """The view of a value; None for an absent one."""
        if value is None or not value.name:
            return None
        found = self._tensors.get(value)
        if found is None:
            found = self._tensors[value] = self._make(value, value.name)
        return found

    def node(self, node: ir.Node, index: int) -> Node:
        """The view of a node."""
        domain = "" if node.domain == "ai.onnx" else node.domain
        return Node(
            node.op_type,
            _trimmed([self.tensor(value) for value in node.inputs]),
            _trimmed([self.tensor(value) for value in node.outputs]),
            {name: _plain(attr) for name, attr in node.attributes.items()} if node.attributes else NO_ATTRIBUTES,
            node.name or str(index),
            domain,
            self._opsets.get(domain, 1),
            self.causal_half,
        )

    def _make(self, value: ir.Value, name: str) -> Tensor:
        engine, dtype = self.engine, value.dtype
        small = engine.values.ints(value, dtype) if dtype is not None else None
        dims = _numbers(value.shape)
        why = "" if dims is not None and None not in dims else engine.why.get(value, "its shape is not known")
        symbols = self._symbols(value, dims)
        holds = small is None or not self.symbols.shapes or self._holds(value, small)
        return Tensor(name, _dtype(value, dtype), dims, why, value in engine.constant, small, symbols, holds)

    def _holds(self, value: ir.Value, small: Array) -> bool:
        """Whether the pass with open dimensions found the same elements."""
        if value not in self.symbols.shapes or (node := value.producer()) is None or node.op_type == "Constant":
            return True
        other = self.symbols.values.get(value)
        return other is not None and np.array_equal(small, other)

    def times(self, body: Body) -> Dim | None:
        """How often a body runs, in the file's own names."""
        times = self.symbols.times.get(body.graph, body.times)
        result: Dim | None = self._named(times)
        return result

    def _symbols(self, value: ir.Value, dims: Dims | None) -> Dims | None:
        """The shape with open dimensions as symbols; None where it has none.

        A dimension whose expression gives another number than was found without symbols is not known.
        """
        if dims is None:
            return None
        if value in self.symbols.shapes:
            symbols = self.symbols.shapes[value] or ()
        elif None not in dims:
            return None
        else:
            symbols = tuple([dim_of(dim) for dim in value.shape or ()])
        if len(symbols) != len(dims):
            return (None,) * len(dims)
        pairs = zip(symbols, dims, strict=True)
        checked = [symbol if dim is None or self._number(symbol) == dim else None for symbol, dim in pairs]
        return None if all(isinstance(dim, int) for dim in checked) else tuple([self._named(dim) for dim in checked])

    def _number(self, symbol: Any) -> Any:
        """An expression with the numbers in it; None where it needs what only a run finds."""
        if symbol not in self._evaluated:
            at = self.symbols.at
            if isinstance(symbol, int | None):
                number = symbol
            elif all(each.name in at for each in symbol.free_symbols):
                number = symbol.subs({each: at[each.name] for each in symbol.free_symbols})
            else:
                number = None
            self._evaluated[symbol] = number
        return self._evaluated[symbol]

    def _named(self, symbol: Any) -> Any:
        """An expression in the file's own names; None where it has a symbol that has no name."""
        if isinstance(symbol, int | None):
            return symbol
        if symbol not in self._renamed:
            self._renamed[symbol] = self._rename(symbol)
        return self._renamed[symbol]

    def _rename(self, symbol: Any) -> Any:
        names = {
            each: self._names.get(each.name) or (each.name if each.name in self.symbols.at else None)
            for each in symbol.free_symbols
        }
        if None in names.values():
            return None
        other = {each: type(each)(name, **each.assumptions0) for each, name in names.items() if name != each.name}
        return symbol.xreplace(other) if other else symbol


NO_ATTRIBUTES: Mapping[str, Any] = {}
NAMES = {dtype: {"FLOAT": "float32", "DOUBLE": "float64"}.get(dtype.name, dtype.name.lower()) for dtype in ir.DataType}
FORMS: Mapping[type, str] = {ir.SequenceType: "sequence({})", ir.OptionalType: "optional({})"}


def _numbers(shape: ir.Shape | None) -> Dims | None:
    return None if shape is None else tuple([dim if isinstance(dim, int) else None for dim in shape.dims])


def _dtype(value: ir.Value, dtype: ir.DataType | None) -> str | None:
    """Element type in lower case, as "float32"; "sequence(float32)" for a sequence."""
    if dtype is None:
        return None
    form = FORMS.get(type(value.type))
    return form.format(NAMES[dtype]) if form else NAMES[dtype]


def _plain(attr: ir.Attr) -> Any:
    if attr.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS, ir.AttributeType.TENSOR):
        return attr.value
    return list(attr.value) if isinstance(attr.value, tuple) else attr.value


def _trimmed(tensors: list[Tensor | None]) -> list[Tensor | None]:
    while tensors and tensors[-1] is None:
        tensors.pop()
    return tensors

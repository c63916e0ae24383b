"""Rows that say what an operator's outputs are: how they are written, and how inference answers them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx_ir as ir
from onnx_shape_inference import ShapeInferenceContext

from neural_cost.analyzer.shape_mends import Context

Given = str | tuple[str, Any] | None  # "float32[2,3]", the same with values, or absent; "float32[?,3]": not known


@dataclass(frozen=True, slots=True)
class Row:
    """One call of an operator, and its outputs as text, "?" for what nobody can know.

    An output that is written with its values is followed element by element; a condition holds 0, 1 or "?".
    """

    op_type: str
    inputs: Sequence[Given]
    outputs: Sequence[Given]
    attributes: dict[str, Any] = field(default_factory=dict)
    domain: str = ""
    since: int = 1
    note: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        return self.domain, self.op_type, self.since


def answer(function: Callable[[ShapeInferenceContext, ir.Node], None] | None, row: Row) -> list[Given]:
    """What an inference function says of a row, in the row's notation."""
    context = Context({"": row.since, row.domain: row.since}, policy="override")
    inputs = [_value(context, f"in{i}", given) for i, given in enumerate(row.inputs)]
    outputs = [ir.Value(name=f"out{i}" if text else "") for i, text in enumerate(row.outputs)]
    attributes = [ir.convenience.convert_attribute(name, value) for name, value in row.attributes.items()]
    node = ir.Node(row.domain, row.op_type, inputs, attributes, outputs=outputs, name="node")
    if function is not None:
        function(context, node)
    texts = [_text(value) if value.name else None for value in outputs]
    asked = [isinstance(given, tuple) for given in row.outputs]
    return [
        (text, _elements(context, value)) if wanted else text
        for text, value, wanted in zip(texts, outputs, asked, strict=True)
    ]


def _elements(context: ShapeInferenceContext, value: ir.Value) -> list[Any] | None:
    found = context.get_symbolic_value(value)
    return None if found is None else [element if isinstance(element, int) else _symbol(element) for element in found]


def _value(context: ShapeInferenceContext, name: str, given: Given) -> ir.Value | None:
    if given is None:
        return None
    text, elements = (given, None) if isinstance(given, str) else given
    name_of_type, _, rest = text.partition("[")
    dtype = ir.DataType[{"float32": "FLOAT", "float64": "DOUBLE"}.get(name_of_type, name_of_type.upper())]
    value = ir.Value(name=name, type=ir.TensorType(dtype))
    if rest:
        dims = [d for d in rest.rstrip("]").split(",") if d]
        value.shape = ir.Shape([int(d) if d.isdigit() else context.new_symbolic_dim() if d == "?" else d for d in dims])
    if isinstance(elements, list) and any(isinstance(element, str) for element in elements):
        context.set_symbolic_value(value, [ir.SymbolicDim(e) if isinstance(e, str) else e for e in elements])
    elif elements is not None:
        value.const_value = ir.tensor(np.asarray(elements, dtype=dtype.numpy()).reshape(value.shape.numpy()), name=name)
    return value


def _text(value: ir.Value) -> str:
    name = "?" if value.dtype is None else value.dtype.name.lower()
    name = {"float": "float32", "double": "float64"}.get(name, name)
    if value.shape is None:
        return name
    return f"{name}[{','.join(str(dim) if isinstance(dim, int) else _symbol(dim) for dim in value.shape)}]"


def _symbol(dim: ir.SymbolicDim) -> str:
    return "?" if str(dim.value).startswith("_d") else str(dim.value)

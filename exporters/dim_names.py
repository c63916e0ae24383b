"""Names of inputs and open dimensions in a file: those that a user knows, in place of an exporter's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import onnx_ir as ir

SYMBOL = re.compile(r"[A-Za-z_]\w*")


def name_inputs(model: ir.Model, names: Sequence[str]) -> None:
    """Give the inputs of a model their names, in order; where there are more or fewer, they keep their own."""
    inputs = list(model.graph.inputs)
    if len(inputs) == len(names):
        for value, name in zip(inputs, names, strict=True):
            value.name = name


def name_dims(model: ir.Model, dims: Mapping[str, Mapping[int, str]]) -> None:
    """Give the open axes of inputs their names, everywhere in a model."""
    shapes = {value.name: value.shape for value in model.graph.inputs}
    names: dict[str, str] = {}
    for name, axes in dims.items():
        for axis, wanted in axes.items():
            symbol = _symbol(shapes.get(name), axis)
            if symbol is not None and symbol != wanted:
                names.setdefault(symbol, wanted)
    if names:
        for value in _values(model):
            _rename(value, names)


def open_axes(model: ir.Model) -> dict[str, dict[int, str]]:
    """Axes of inputs that have no number, by the names that they have in the file."""
    inputs = [value for value in model.graph.inputs if value.name not in model.graph.initializers]
    found = {
        value.name or "": {axis: str(dim) for axis, dim in enumerate(value.shape or ()) if not isinstance(dim, int)}
        for value in inputs
    }
    return {name: axes for name, axes in found.items() if axes}


def _symbol(shape: ir.Shape | None, axis: int) -> str | None:
    if shape is None or isinstance(shape[axis], int):
        return None
    text = str(shape[axis])
    return text if SYMBOL.fullmatch(text) else None


def _values(model: ir.Model) -> Iterator[ir.Value]:
    for graph in model.graphs():
        yield from graph.inputs
        for node in graph:
            yield from node.outputs


def _rename(value: ir.Value, names: Mapping[str, str]) -> None:
    """Write a new shape: the old one may be shared or frozen."""
    if value.shape is not None and any(not isinstance(dim, int) for dim in value.shape):
        value.shape = ir.Shape([dim if isinstance(dim, int) else _renamed(dim, names) for dim in value.shape])


def _renamed(dim: ir.SymbolicDim, names: Mapping[str, str]) -> ir.SymbolicDim:
    if dim.value is None:
        return dim
    return ir.SymbolicDim(SYMBOL.sub(lambda found: names.get(found[0], found[0]), str(dim)))

"""Dimensions that a user binds, and those that nobody gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeVar

import onnx_ir as ir

from neural_cost.analyzer.derived_dims import in_symbols, names_in, size_of
from neural_cost.analyzer.errors import DimensionError, closest, listed, quoted
from neural_cost.analyzer.load import Model
from neural_cost.analyzer.shape_checks import MAX_SIZE


@dataclass(frozen=True, slots=True)
class Binding:
    """Every input's shape, and what the names of the model's dimensions stand for.

    Attributes:
        inputs: shapes in numbers; None where the file gives none.
        dims: sizes by the name of the dimension.
        assumed: dimensions that nobody gave: 1 in `inputs` and `dims`, or what `assuming` was told. A dimension whose
            name computes with others is none of them.
        symbolic_inputs, symbolic_dims: the same with a symbol for each assumed dimension.
        names: the file's names of those symbols that could not bear them.
        found: sizes that a user gave by `tensor:axis` for what nodes make: only a run would find them.
        given: whether a user gave sizes.
        overrides: whether one of them replaces a size that the file fixes.
        declared: each input's shape with the names of its open dimensions, whoever gives their sizes.
    """

    inputs: dict[str, tuple[int, ...] | None]
    dims: dict[str, int]
    assumed: list[str]
    symbolic_inputs: dict[str, tuple[int | str, ...] | None]
    symbolic_dims: dict[str, int | str]
    names: dict[str, str]
    found: dict[str, int]
    given: bool
    overrides: bool
    declared: Mapping[str, Sequence[int | str]]

    @property
    def open_names(self) -> set[str]:
        """Dimensions that the inputs leave open in the file, whoever gives their sizes."""
        return {dim for shape in self.declared.values() for dim in shape if isinstance(dim, str)}

    def assuming(self, sizes: Mapping[str, int]) -> Binding:
        """The same with other sizes, by symbol, for the dimensions that nobody gave."""

        def number(dim: int | str) -> int:
            return dim if isinstance(dim, int) else size_of(dim, sizes) or 0

        return replace(
            self,
            inputs={n: None if s is None else tuple(map(number, s)) for n, s in self.symbolic_inputs.items()},
            dims={name: number(size) for name, size in self.symbolic_dims.items()},
        )


def bind(model: Model, dims: Mapping[str, int], shapes: Mapping[str, Sequence[int]]) -> Binding:
    """Bind the open dimensions of the inputs: by name, by `input:axis`, or a whole input's shape.

    Raises:
        DimensionError: a name that the model lacks, or a value that does not fit.
    """
    inputs = {value.name or "": value for value in model.ir.graph.inputs if value.name not in _initializers(model)}
    dims = _by_name(model, inputs, dims)
    for name, size in dims.items():
        _check_size(model, name, size)
    for name, shape in shapes.items():
        _check_shape(model, inputs, name, shape)
    names = _named(inputs, shapes)
    values = dict(dims) | _from_shapes(model, inputs, dims, shapes)
    made = _of_nodes(model, [name for name in dims if name not in names and not _is_axis(inputs, name)])
    unknown = [name for name, is_made in made.items() if not is_made]
    if unknown:
        meant = closest(unknown[0], names)
        raise DimensionError(
            f"{model.path} has no open dimension {quoted(unknown[0])}{meant}; it has: {listed(names)}."
        )
    overrides = _overrides(inputs, dims, shapes)
    used = {name: values.get(name, 1) for name in names} | dict(dims)
    derived = _derived(names, values, used)
    used |= derived
    values |= {name: size for name, size in derived.items() if (names_in(name) or set()) <= set(values)}
    bound = {name: _bound_shape(name, value, values, shapes.get(name)) for name, value in inputs.items()}
    for name, sizes in bound.items():
        if prod(_as(dim, used) for dim in sizes or ()) > MAX_SIZE:
            raise DimensionError(f"{model.path}: the input {quoted(name)} would be larger than any can be; give less.")
    opened = {name: None for shape in bound.values() for name in shape or () if isinstance(name, str)}
    assumed = [name for name in opened if name not in derived]
    symbols = {name: _symbol(name, position) for position, name in enumerate(assumed)}
    terms = symbols | {name: in_symbols(name, {**values, **symbols}) for name in opened if name in derived}
    return Binding(
        {name: None if shape is None else tuple(_as(dim, used) for dim in shape) for name, shape in bound.items()},
        used,
        assumed,
        {name: None if shape is None else tuple(_as(dim, terms) for dim in shape) for name, shape in bound.items()},
        used | terms,
        {symbol: name for name, symbol in symbols.items() if symbol != name},
        {name: dims[name] for name in made},
        bool(dims or shapes),
        overrides,
        {name: _names_of(name, value) for name, value in inputs.items() if value.shape is not None},
    )


def _names_of(name: str, value: ir.Value) -> tuple[int | str, ...]:
    pairs = enumerate(value.shape or ())
    return tuple(dim if isinstance(dim, int) else dim_name(name, axis, dim) for axis, dim in pairs)


def _by_name(model: Model, inputs: Mapping[str, ir.Value], dims: Mapping[str, int]) -> dict[str, int]:
    """The same with the names of dimensions that have one: `input:0` is all of `batch`, where that is its name."""
    found: dict[str, int] = {}
    for given, size in dims.items():
        owner, _, axis = given.rpartition(":")
        dim = inputs[owner].shape[int(axis)] if _is_axis(inputs, given) else None  # type: ignore[index]
        name = str(dim.value) if isinstance(dim, ir.SymbolicDim) and dim.value else given
        if found.setdefault(name, size) != size:
            raise DimensionError(
                f"{model.path}: the dimension {quoted(name)} was given as {found[name]} and as {size}."
            )
    return found


def _derived(names: Mapping[str, None], values: Mapping[str, int], used: Mapping[str, int]) -> dict[str, int]:
    """Dimensions that nobody gave and whose names are arithmetic of other open ones, with their sizes."""
    found: dict[str, int] = {}
    for name in names:
        parts = None if name in values else names_in(name)
        if parts and parts <= set(names) and not any(names_in(part) for part in parts):
            size = size_of(name, used)
            if size is not None and size >= 0:
                found[name] = size
    return found


def dim_name(input_name: str, axis: int, dim: object) -> str:
    """Name of an open dimension: its own, or `input:axis` for a nameless one."""
    name = getattr(dim, "value", None)
    return str(name) if name else f"{input_name}:{axis}"


def _initializers(model: Model) -> set[str]:
    return set(model.ir.graph.initializers)


def _named(inputs: Mapping[str, ir.Value], shapes: Mapping[str, Sequence[int]]) -> dict[str, None]:
    """Open dimensions in order of appearance."""
    found: dict[str, None] = {}
    for name, value in inputs.items():
        for axis, dim in enumerate(value.shape or ()):
            if not isinstance(dim, int):
                found[dim_name(name, axis, dim)] = None
    return found


def _is_axis(inputs: Mapping[str, ir.Value], name: str) -> bool:
    owner, _, axis = name.rpartition(":")
    value = inputs.get(owner)
    return value is not None and axis.isdigit() and value.shape is not None and int(axis) < len(value.shape)


def _of_nodes(model: Model, names: Sequence[str]) -> dict[str, bool]:
    """Whether each name is `tensor:axis` of what a node makes, in the graph or a body."""
    made = {value.name for node in model.ir.graph.all_nodes() for value in node.outputs} if names else set()
    parts = {name: name.rpartition(":") for name in names}
    return {name: axis.isdigit() and owner in made for name, (owner, _, axis) in parts.items()}


def _check_size(model: Model, name: str, size: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        given = quoted(repr(size))[1:-1]
        raise DimensionError(
            f"{model.path}: the dimension {quoted(name)} must be a whole number from 0 up, not {given}."
        )
    if size > MAX_SIZE:
        raise DimensionError(f"{model.path}: the dimension {quoted(name)} is larger than 64 bits can hold; give less.")


def _check_shape(model: Model, inputs: Mapping[str, ir.Value], name: str, shape: Sequence[int]) -> None:
    if name not in inputs:
        meant = closest(name, inputs)
        raise DimensionError(f"{model.path} has no input {quoted(name)}{meant}; it has: {listed(inputs)}.")
    declared = inputs[name].shape
    if declared is not None and len(declared) != len(shape):
        raise DimensionError(
            f"{model.path}: the input {quoted(name)} has {len(declared)} dimensions, and {len(shape)} were given; "
            "give as many as it has."
        )
    for size in shape:
        _check_size(model, name, size)


def _from_shapes(
    model: Model, inputs: Mapping[str, ir.Value], dims: Mapping[str, int], shapes: Mapping[str, Sequence[int]]
) -> dict[str, int]:
    """Named dimensions that whole shapes bind: the same name is the same size everywhere."""
    found: dict[str, int] = {}
    for name, shape in shapes.items():
        for axis, (dim, size) in enumerate(zip(inputs[name].shape or (), shape, strict=False)):
            if isinstance(dim, int):
                continue
            key = dim_name(name, axis, dim)
            other = found.get(key, dims.get(key, size))
            if other != size:
                raise DimensionError(
                    f"{model.path}: the dimension {quoted(key)} was given as {other} and as {size}; give one of them."
                )
            found[key] = size
    return found


def _overrides(inputs: Mapping[str, ir.Value], dims: Mapping[str, int], shapes: Mapping[str, Sequence[int]]) -> bool:
    """Whether a user's size replaces one that the file fixes: what it declares inside then no longer holds."""
    for name, value in inputs.items():
        given = shapes.get(name)
        for axis, dim in enumerate(value.shape or ()):
            size = given[axis] if given else dims.get(f"{name}:{axis}")
            if isinstance(dim, int) and size not in (None, dim):
                return True
    return False


def _bound_shape(
    name: str, value: ir.Value, values: Mapping[str, int], given: Sequence[int] | None
) -> tuple[int | str, ...] | None:
    """Sizes where they are known, names where they are open."""
    if given is not None:
        return tuple(given)
    if value.shape is None:
        return None
    if not value.shape.is_static() and not isinstance(value.type, ir.TensorType):
        return None  # elements of a sequence may differ in what is open: no one size holds for all
    shape: list[int | str] = []
    for axis, dim in enumerate(value.shape):
        by_axis = values.get(f"{name}:{axis}")
        if isinstance(dim, int):
            shape.append(dim if by_axis is None else by_axis)
        else:
            key = dim_name(name, axis, dim)
            shape.append(values.get(key, key if by_axis is None else by_axis))
    return tuple(shape)


Size = TypeVar("Size", int, int | str)


def _as(dim: int | str, meanings: Mapping[str, Size]) -> int | Size:
    """A size as it is; a name as what it stands for."""
    return meanings[dim] if isinstance(dim, str) else dim


def _symbol(name: str, position: int) -> str:
    """A name that can stand in an expression, and that shape inference does not make up itself."""
    return name if name.isidentifier() and not name.startswith("_") else f"open_{position}"

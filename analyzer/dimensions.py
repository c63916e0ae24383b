"""Dimensions that a user binds, and those that nobody gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from neural_cost.analyzer.errors import DimensionError
from neural_cost.analyzer.load import Model


@dataclass(frozen=True, slots=True)
class Binding:
    """Every input's shape in numbers; which dimensions were taken as 1; whether a fixed one was overridden."""

    inputs: dict[str, tuple[int, ...] | None]
    dims: dict[str, int]
    assumed: list[str]
    given: bool
    overrides: bool


def bind(model: Model, dims: Mapping[str, int], shapes: Mapping[str, Sequence[int]]) -> Binding:
    """Bind the open dimensions of the inputs: by name, by `input:axis`, or a whole input's shape.

    Raises:
        DimensionError: a name that the model lacks, or a value that does not fit.
    """
    inputs = {value.name or "": value for value in model.ir.graph.inputs if value.name not in _initializers(model)}
    for name, size in dims.items():
        _positive(model, name, size)
    for name, shape in shapes.items():
        _check_shape(model, inputs, name, shape)
    names = _named(inputs, shapes)
    values = dict(dims) | _from_shapes(model, inputs, dims, shapes)
    unknown = [name for name in dims if name not in names and not _is_axis(inputs, name)]
    if unknown:
        known = ", ".join(names) or "none"
        raise DimensionError(f'{model.path} has no open dimension "{unknown[0]}"; it has: {known}.')
    overrides = _overrides(inputs, dims, shapes)
    bound: dict[str, tuple[int, ...] | None] = {}
    assumed: list[str] = []
    for name, value in inputs.items():
        bound[name] = _bound_shape(name, value, values, shapes.get(name), assumed)
    used = {name: values.get(name, 1) for name in names}
    return Binding(bound, used | dict(dims), assumed, bool(dims or shapes), overrides)


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


def _positive(model: Model, name: str, size: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise DimensionError(f'{model.path}: the dimension "{name}" must be a positive whole number, not {size}.')


def _check_shape(model: Model, inputs: Mapping[str, ir.Value], name: str, shape: Sequence[int]) -> None:
    if name not in inputs:
        raise DimensionError(f'{model.path} has no input "{name}"; it has: {", ".join(inputs) or "none"}.')
    declared = inputs[name].shape
    if declared is not None and len(declared) != len(shape):
        raise DimensionError(
            f'{model.path}: the input "{name}" has {len(declared)} dimensions, and {len(shape)} were given.'
        )
    for size in shape:
        _positive(model, name, size)


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
                raise DimensionError(f'{model.path}: the dimension "{key}" was given as {other} and as {size}.')
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
    name: str, value: ir.Value, values: Mapping[str, int], given: Sequence[int] | None, assumed: list[str]
) -> tuple[int, ...] | None:
    if given is not None:
        return tuple(given)
    if value.shape is None:
        return None
    shape = []
    for axis, dim in enumerate(value.shape):
        by_axis = values.get(f"{name}:{axis}")
        if isinstance(dim, int):
            shape.append(dim if by_axis is None else by_axis)
            continue
        key = dim_name(name, axis, dim)
        size = values.get(key, by_axis)
        if size is None:
            if key not in assumed:
                assumed.append(key)
            size = 1
        shape.append(size)
    return tuple(shape)

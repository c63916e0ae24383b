"""Which axes of the inputs are left open, and under which names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neural_cost.analyzer.errors import ExportError

BATCH = "batch"
Shapes = Mapping[str, Sequence[int]]


def chosen_dims(wanted: Mapping[Any, Any] | None, shapes: Shapes) -> tuple[dict[str, dict[int, str]], tuple[str, ...]]:
    """Open axes by input, and notes on what could not be opened.

    Raises:
        ExportError: a name that no input has, an axis that it lacks, or one dimension of two sizes.
    """
    if wanted is None:
        return _common_batch(shapes)
    by_input = _by_input(wanted, shapes)
    dims = {
        name: {_axis(name, axis, shapes): str(dim) for axis, dim in axes.items()} for name, axes in by_input.items()
    }
    _check_sizes(dims, shapes)
    return {name: axes for name, axes in dims.items() if axes}, ()


def _common_batch(shapes: Shapes) -> tuple[dict[str, dict[int, str]], tuple[str, ...]]:
    batched = {name: shape[0] for name, shape in shapes.items() if len(shape) > 0}
    if not batched:
        return {}, ()
    if len(set(batched.values())) > 1:
        sizes = ", ".join(f"{name} {size}" for name, size in batched.items())
        return {}, (f"no axis is open: the first axes differ ({sizes}); name the open ones with dynamic_dims",)
    return {name: {0: BATCH} for name in batched}, ()


def _by_input(wanted: Mapping[Any, Any], shapes: Shapes) -> dict[str, Mapping[int, str]]:
    if wanted and all(isinstance(key, int) for key in wanted):
        if len(shapes) != 1:
            raise ExportError(
                f"dynamic_dims needs the names of inputs, as there are {len(shapes)}: {', '.join(shapes)}."
            )
        return dict.fromkeys(shapes, wanted)
    for name in wanted:
        if name not in shapes:
            raise ExportError(f'dynamic_dims names "{name}", which is no input: choose of {", ".join(shapes)}.')
    return dict(wanted)


def _axis(name: str, axis: int, shapes: Shapes) -> int:
    rank = len(shapes[name])
    if not -rank <= axis < rank:
        raise ExportError(f'dynamic_dims names axis {axis} of the input "{name}", which has {rank} axes.')
    return axis % rank


def _check_sizes(dims: Mapping[str, Mapping[int, str]], shapes: Shapes) -> None:
    found: dict[str, tuple[int, str]] = {}
    for name, axes in dims.items():
        for axis, dim in axes.items():
            size, first = found.setdefault(dim, (shapes[name][axis], name))
            if size != shapes[name][axis]:
                raise ExportError(
                    f'the dimension "{dim}" is {size} in the input "{first}" and {shapes[name][axis]} in "{name}": '
                    "give the example inputs one size, or the dimensions two names."
                )

"""Random inputs like the example, at other sizes of the open dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from neural_cost.exporters.protocol import Array, Dims


def sizes_of(example: Mapping[str, Array], dims: Dims) -> dict[str, int]:
    """Sizes of the open dimensions in the example."""
    return {name: int(example[key].shape[axis]) for key, axes in dims.items() for axis, name in axes.items()}


def variants(sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Sizes to compare at: those of the example, each one larger, and a batch of 1."""
    yield dict(sizes)
    if sizes:
        yield {name: size + 1 for name, size in sizes.items()}
    if sizes.get("batch", 1) != 1:
        yield dict(sizes) | {"batch": 1}


def sample(example: Mapping[str, Array], dims: Dims, sizes: Mapping[str, int], seed: int) -> dict[str, Array]:
    """Arrays of the types of the example, at other sizes, of values that the model takes.

    Floats are drawn from the range of the example, or from a normal distribution where it is constant; all else is
    drawn from the example's own elements, as an integer may be an index, and a boolean a mask.
    """
    random = np.random.default_rng(seed)
    return {
        name: _like(array, _resized(array.shape, dims.get(name, {}), sizes), random) for name, array in example.items()
    }


def _resized(shape: tuple[int, ...], axes: Mapping[int, str], sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sizes[axes[axis]] if axis in axes else size for axis, size in enumerate(shape))


def _like(array: Array, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if array.size == 0:
        return np.zeros(shape, array.dtype)
    if not _is_float(array.dtype):
        return random.choice(array.reshape(-1), shape)
    values = array.astype(np.float64)
    low, high = float(values.min()), float(values.max())
    drawn = random.uniform(low, high, shape) if np.isfinite([low, high]).all() and low < high else None
    return (random.standard_normal(shape) if drawn is None else drawn).astype(array.dtype)


def _is_float(dtype: np.dtype[np.generic]) -> bool:
    return dtype.kind == "f" or dtype.name in {"bfloat16", "float8_e4m3fn", "float8_e5m2"}

"""Arrays between processes: .npz files, with types that numpy itself does not know, as bfloat16."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from neural_cost.analyzer.errors import BackendError
from neural_cost.runtime.inputs import Array

TYPES = "neural_cost_types"
KNOWN = "biufc"


def write_arrays(file: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays by name; a name may be any text, so in the file they are counted.

    Raises:
        BackendError: an array of strings or objects, which cannot be handed over.
    """
    for name, array in arrays.items():
        if array.dtype.kind in "OSU":
            raise BackendError(f'"{name}" is an array of strings, which compare cannot hand to another process.')
    types = json.dumps([[name, array.dtype.name] for name, array in arrays.items()])
    stored = {str(place): _plain(array) for place, array in enumerate(arrays.values())}
    np.savez(file, allow_pickle=False, **{TYPES: np.array(types)}, **stored)


def write_list(file: Path, arrays: Sequence[Array]) -> None:
    """Write arrays in their order."""
    write_arrays(file, {str(place): array for place, array in enumerate(arrays)})


def read_arrays(file: Path) -> dict[str, Array]:
    """Read what was written, in its order."""
    with np.load(file, allow_pickle=False) as stored:
        types = json.loads(str(stored[TYPES]))
        return {name: _typed(stored[str(place)], dtype) for place, (name, dtype) in enumerate(types)}


def _plain(array: Array) -> Array:
    return array if array.dtype.kind in KNOWN else np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def _typed(array: Array, dtype: str) -> Array:
    if array.dtype.name == dtype:
        return array
    import ml_dtypes

    return np.asarray(array.view(getattr(ml_dtypes, dtype)))

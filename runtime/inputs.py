"""Inputs for a run: made up by type and shape, or read from an .npz file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, is_zipfile

import numpy as np
import onnx

from neural_cost.analyzer.errors import BackendError, InputError

Array = np.ndarray[Any, Any]


def random_input(name: str, elem_type: int, shape: Sequence[int], seed: int = 0) -> Array:
    """Elements that fit a type: floats from 0 to 1, integers and booleans of 1, strings "1".

    A 1 is an index that most tables have, a mask that lets everything through, and a length that is not empty.

    Raises:
        BackendError: there is no way to hand such a type to a run.
    """
    try:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    except (KeyError, ValueError, TypeError) as error:
        raise BackendError(f'the input "{name}" has no element type that could be made up; give --inputs.') from error
    if dtype == np.object_ or elem_type == onnx.TensorProto.STRING:
        return np.full(shape, "1", dtype=object)
    if elem_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16) or dtype.kind == "V":
        return np.random.default_rng(seed).random(shape).astype(dtype)
    return np.ones(shape, dtype)


def load_inputs(file: Path) -> Mapping[str, Array]:
    """Arrays by the names of inputs.

    Raises:
        InputError: the file cannot be read as .npz without running code from it.
    """
    if not file.is_file():
        raise InputError(f"{file} does not exist; give an .npz file of arrays by input name.")
    if not is_zipfile(file):
        raise InputError(f"{file} is no .npz file: write one with numpy.savez(file, NAME=array), by input name.")
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError, AttributeError, TypeError, BadZipFile) as error:
        raise InputError(f"{file} cannot be read as .npz of arrays by input name ({error}).") from error

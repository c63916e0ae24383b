"""What a model is run on: arrays for its inputs, made up by type, shape and range, or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from neural_cost.analyzer.errors import BackendError, InputError, listed, quoted
from neural_cost.analyzer.node import Tensor, Unknown
from neural_cost.analyzer.report import Report
from neural_cost.runtime.inputs import Array, random_input

NAMES = {"float32": "FLOAT", "float64": "DOUBLE"}
PASSED_ON = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose"}
SEED = 0
# types of arrays that Python made, and what they stand for as well
SAFE = {"float64": ("float32", "float16"), "int64": ("int32",)}


def make_feeds(report: Report, given: Mapping[str, Array] | None = None) -> dict[str, Array]:
    """An array for every input of a report's model; those that are given are checked and taken.

    Raises:
        InputError: an array has no input, or does not fit it.
        BackendError: an input cannot be made up.
    """
    tensors = {tensor.name: tensor for tensor in report.opened.ends.inputs}
    given = given or {}
    unknown = [name for name in given if name not in tensors]
    if unknown:
        raise InputError(f"the model has no input {quoted(unknown[0])}; it has: {listed(tensors)}.")
    ranges = index_ranges(report)
    return {
        name: _checked(tensor, given[name]) if name in given else _made_up(tensor, ranges.get(name))
        for name, tensor in tensors.items()
    }


def shapes_of(given: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
    """Shapes of given inputs: what a report of the run must be made for."""
    return {name: array.shape for name, array in given.items()}


def check_declared(declared: Mapping[str, Sequence[object]], feeds: Mapping[str, Array], file: object) -> None:
    """Refuse arrays of other sizes than a model declares: it was analyzed for them, and cannot run on them.

    `declared` has the sizes of each input; those that are no number are open.

    Raises:
        InputError: a size does not fit.
    """
    for name, array in feeds.items():
        for axis, (wanted, size) in enumerate(zip(declared.get(name, ()), array.shape, strict=False)):
            if isinstance(wanted, int) and wanted != size:
                raise InputError(
                    f"{file}: the input {quoted(name)} has the fixed size {wanted} along axis {axis}, and {size} was "
                    "given; give as much, or export the model with that axis open."
                )


def index_ranges(report: Report) -> dict[str, int]:
    """Rows of the table that an integer input picks from: any row may be asked for, and memory feels which."""
    origin: dict[str, str] = {}
    found: dict[str, int] = {}
    for node in report.nodes:
        if node.graph != "main" or not node.inputs:
            continue
        if node.op_type in PASSED_ON and node.outputs:
            first = node.inputs[0].name
            origin[node.outputs[0].name] = origin.get(first, first)
        elif node.op_type in ("Gather", "GatherElements") and len(node.inputs) > 1:
            rows = _rows(node.inputs[0], int(node.source.node.attr("axis", 0)))
            name = origin.get(node.inputs[1].name, node.inputs[1].name)
            if rows is not None:
                found[name] = min(rows, found.get(name, rows))
    return found


def _rows(table: Tensor, axis: int) -> int | None:
    try:
        return int(table.shape[axis])
    except (Unknown, IndexError):
        return None


def _made_up(tensor: Tensor, rows: int | None) -> Array:
    if tensor.dtype is None or tensor.dtype.startswith(("sequence", "optional")):
        raise BackendError(f"the input {quoted(tensor.name)} is no tensor, so it cannot be made up.")
    try:
        shape = [int(size) for size in tensor.shape]
    except Unknown as unknown:
        raise BackendError(f"the shape of the input {quoted(tensor.name)} is not known: {unknown.why}.") from unknown
    if rows is not None and rows > 0 and tensor.dtype.startswith(("int", "uint")):
        return np.random.default_rng(SEED).integers(0, rows, shape, tensor.dtype)
    number = onnx.TensorProto.DataType.Value(NAMES.get(tensor.dtype, tensor.dtype.upper()))
    return random_input(tensor.name, number, shape, SEED)


def _checked(tensor: Tensor, array: Array) -> Array:
    wanted = [int(size) for size in tensor.shape]
    if list(array.shape) != wanted:
        raise InputError(f"the input {quoted(tensor.name)} has shape {list(array.shape)} where {wanted} is wanted.")
    dtype = "string" if array.dtype.kind in "OSU" else str(array.dtype)
    if dtype == tensor.dtype:
        return array
    if tensor.dtype in SAFE.get(dtype, ()):
        return array.astype(tensor.dtype)
    raise InputError(f"the input {quoted(tensor.name)} is {dtype} where {tensor.dtype} is wanted.")

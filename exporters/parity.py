"""Whether a file computes what its model computes: checker, ONNX Runtime, and numbers on random inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neural_cost.analyzer.errors import ExportError, ParityError
from neural_cost.exporters.messages import first_line
from neural_cost.exporters.protocol import Array, Dims, Native
from neural_cost.exporters.record import OutputParity, Parity
from neural_cost.exporters.sample import sample, sizes_of, variants

TOLERANCE = {"float64": 1e-7, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""Largest difference of an element over the largest value of its output: two orders above rounding of the type."""
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli"}
SMALLEST_SCALE = 1e-3  # an output of smaller values is compared as if it had these: its rounding comes from larger ones


def check_file(file: Path, *, has_weights: bool = True) -> None:
    """Refuse a file that ONNX's checker refuses; of one without weights, the graph is checked.

    Raises:
        ExportError: it is no valid model.
    """
    import onnx

    try:
        onnx.checker.check_model(file if has_weights else _without_weights(file), full_check=True)
    except Exception as error:
        raise ExportError(f"the exporter wrote an invalid file: {first_line(error)}") from error


def _without_weights(file: Path) -> Any:
    """The graph with absent weights as inputs: the checker looks for the file of any other."""
    import onnx

    proto = onnx.load(file, load_external_data=False)
    kept = [tensor for tensor in proto.graph.initializer if not tensor.external_data]
    for tensor in proto.graph.initializer:
        if tensor.external_data:
            proto.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    del proto.graph.initializer[:]
    proto.graph.initializer.extend(kept)
    return proto


def compare(file: Path, native: Native, example: Mapping[str, Array], dims: Dims) -> Parity:
    """Run a file and its model on random inputs, at more than one size where dimensions are open.

    Raises:
        ExportError: ONNX Runtime refuses the file, or an output differs by more than its tolerance.
    """
    session, notes = _session(file)
    random = random_node(file)
    outputs: list[OutputParity] = []
    for seed, sizes in enumerate(variants(sizes_of(example, dims))):
        feeds = sample(example, dims, sizes, seed)
        try:
            expected = native(feeds)
        except Exception as error:
            if seed == 0:
                raise ExportError(f"the model fails on random inputs like its example: {first_line(error)}") from error
            notes.append(f"not compared at {_words(sizes)}: the model itself refuses it ({first_line(error)})")
            continue
        outputs += _differences(session, feeds, expected, sizes, random)
        notes += _nothing_finite(outputs[-len(expected) :], expected)
    return Parity(tuple(outputs), tuple(dict.fromkeys(notes)))


def _nothing_finite(records: Sequence[OutputParity], expected: Sequence[Array]) -> list[str]:
    """Notes on outputs of NaN and infinities alone: that both have them tells little."""
    return [
        f'nothing of the output "{record.output}" is finite, in the model and in its file: '
        "give example inputs of a range that the model is made for"
        for record, array in zip(records, expected, strict=True)
        if array.size and array.dtype.name in TOLERANCE and not np.isfinite(array.astype(np.float64)).any()
    ]


def _session(file: Path) -> tuple[Any, list[str]]:
    """A session, of the file or of the same graph in float32, where ONNX Runtime has no kernels of its type."""
    from neural_cost.exporters.widen import has_bfloat16, widened

    if has_bfloat16(file):
        with widened(file) as wide:
            return _open(wide), ["bfloat16 was run as float32: ONNX Runtime has no bfloat16 kernels on CPUs"]
    return _open(file), []


def _open(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # a refusal is raised, and told once
    try:
        return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ExportError(f"ONNX Runtime refuses the exported file: {first_line(error)}") from error


def _differences(
    session: Any, feeds: Mapping[str, Array], expected: Sequence[Array], sizes: Mapping[str, int], random: str
) -> list[OutputParity]:
    names = [output.name for output in session.get_outputs()]
    if len(expected) != len(names):
        raise ParityError(f"the model gives {len(expected)} outputs, its file {len(names)} ({', '.join(names)}).")
    found = _run(session, feeds, sizes)
    records = [difference(*each, sizes) for each in zip(names, expected, found, strict=True)]
    for record in records:
        if not record.within and random:
            raise ParityError(
                f'the output "{record.output}" cannot be compared with the model: the graph draws random numbers '
                f"(node {random}); without verification it is written."
            )
        if not record.within:
            raise ParityError(
                f'the output "{record.output}" of the exported file differs from the model by '
                f"{record.max_abs_diff:.1e} (relative {record.max_rel_diff:.1e}) at {_words(sizes)}, more than "
                f"{record.tolerance:.1e}: the file is not the model (without verification it is written anyway)."
            )
    return records


def random_node(file: Path) -> str:
    """The name of a node that draws random numbers, with its operator; empty where there is none."""
    import onnx

    nodes = onnx.load(file, load_external_data=False).graph.node
    return next((f"{node.name}, {node.op_type}" for node in nodes if node.op_type in RANDOM), "")


def _run(session: Any, feeds: Mapping[str, Array], sizes: Mapping[str, int]) -> list[Array]:
    types = {value.name: value.type for value in session.get_inputs()}
    wide = {name: feeds[name].astype(np.float32) for name in types if types[name] == "tensor(float)"}
    try:
        found: list[Array] = session.run(None, {name: feeds[name] for name in types} | wide)
    except Exception as error:
        raise ExportError(
            f"ONNX Runtime cannot run the exported file at {_words(sizes)}: {first_line(error)}"
        ) from error
    return found


def difference(name: str, expected: Array, found: Array, sizes: Mapping[str, int]) -> OutputParity:
    """How far an output is from what it should be; for types that count exactly, how many elements differ.

    Raises:
        ParityError: they have different shapes.
    """
    dtype = expected.dtype.name
    if expected.shape != found.shape:
        raise ParityError(
            f'the output "{name}" has the shape {list(found.shape)} in the exported file and {list(expected.shape)} in '
            f"the model at {_words(sizes)}."
        )
    if dtype not in TOLERANCE:
        unequal = float((expected != found).sum())
        return OutputParity(name, dtype, found.shape, dict(sizes), unequal, 0.0, 0.0)
    return _float_difference(name, dtype, expected.astype(np.float64), found.astype(np.float64), sizes)


def _float_difference(name: str, dtype: str, expected: Array, found: Array, sizes: Mapping[str, int]) -> OutputParity:
    """Infinities and NaNs must stand in the same places, and are then left out."""
    finite = np.isfinite(expected)
    same = np.array_equal(expected[~finite], found[~finite], equal_nan=True) and np.isfinite(found[finite]).all()
    value, difference = np.abs(expected[finite]), np.abs(expected[finite] - found[finite])
    scale = max(float(value.max(initial=0.0)), SMALLEST_SCALE)
    worst = float(difference.max(initial=0.0)) if same else float("inf")
    relative = float((difference[value > 0] / value[value > 0]).max(initial=0.0)) if same else float("inf")
    return OutputParity(name, dtype, expected.shape, dict(sizes), worst, relative, TOLERANCE[dtype] * scale)


def _words(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items()) or "the size of the example"

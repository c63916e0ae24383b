"""One run of a model in ONNX Runtime on the CPU, with every tensor of its graph exposed and nothing optimized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from neural_cost.analyzer.errors import BackendError, InputError
from neural_cost.runtime.inputs import Array, random_input

TRIPS = "neural_cost_trips_of_"  # an output of each Loop, which piles up the numbers of its iterations


@dataclass(frozen=True, slots=True)
class Observed:
    """What a run showed: type and shape of each tensor by name, and trips of each Loop by its place in the file."""

    tensors: Mapping[str, tuple[str, tuple[int, ...]]]
    trips: Mapping[int, int]


def run_exposed(
    file: Path, shapes: Mapping[str, Sequence[int]], dims: Mapping[str, int], inputs: Mapping[str, Array] | None = None
) -> Observed:
    """Run a model once. Inputs that are not given are made up, in these shapes, or with these open dimensions.

    Raises:
        BackendError: ONNX Runtime cannot run the model on these inputs.
    """
    import onnxruntime

    model = onnx.load(file, load_external_data=False)
    feeds = _feeds(model, shapes, dims, inputs or {})
    loops = _expose(model)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(file.parent.resolve()))
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        seen = _outputs(session, feeds)
    except Exception as error:  # ONNX Runtime raises many types of its own
        reason = " ".join(str(error).split())[:300]
        raise BackendError(f"{file} cannot be run by ONNX Runtime: {reason}") from error
    trips = {index: seen.pop(TRIPS + str(index))[1][0] for index in loops}
    return Observed(seen, trips)


def _outputs(session: Any, feeds: Mapping[str, tuple[Array, int]]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type and shape of every output that is a tensor."""
    names = [output.name for output in session.get_outputs()]
    if any(elem_type == onnx.TensorProto.STRING for _, elem_type in feeds.values()):  # which no OrtValue takes
        arrays = session.run(names, {name: array for name, (array, _) in feeds.items()})
        found = {name: array for name, array in zip(names, arrays, strict=True) if isinstance(array, np.ndarray)}
        return {name: ("string" if a.dtype == object else str(a.dtype), a.shape) for name, a in found.items()}
    values = session.run_with_ort_values(names, {name: _value(*feed) for name, feed in feeds.items()})
    pairs = zip(names, values, strict=True)
    return {name: _described(value) for name, value in pairs if value.has_value() and value.is_tensor()}


def _feeds(
    model: onnx.ModelProto,
    shapes: Mapping[str, Sequence[int]],
    dims: Mapping[str, int],
    inputs: Mapping[str, Array],
) -> dict[str, tuple[Array, int]]:
    held = {tensor.name for tensor in model.graph.initializer}
    wanted = [value for value in model.graph.input if value.name not in held]
    unknown = [name for name in inputs if name not in {value.name for value in model.graph.input}]
    if unknown:
        raise InputError(f'the model has no input "{unknown[0]}"; it has: {", ".join(v.name for v in wanted)}.')
    feeds = {}
    for value in wanted:
        if not value.type.HasField("tensor_type"):
            raise BackendError(f'the input "{value.name}" is no tensor, so a run cannot be made up for it.')
        elem_type = value.type.tensor_type.elem_type
        array = inputs.get(value.name)
        if array is None:
            array = random_input(value.name, elem_type, shapes.get(value.name) or _declared(value, dims))
        value.type.CopyFrom(onnx.helper.make_tensor_type_proto(elem_type, array.shape))
        feeds[value.name] = (array, elem_type)
    return feeds


def _declared(value: onnx.ValueInfoProto, dims: Mapping[str, int]) -> list[int]:
    sizes = enumerate(value.type.tensor_type.shape.dim)
    by_axis = {axis: dims.get(f"{value.name}:{axis}") for axis, _ in sizes}
    return [
        by_axis[axis] or dim.dim_value or dims.get(dim.dim_param, 1)
        for axis, dim in enumerate(value.type.tensor_type.shape.dim)
    ]


def _expose(model: onnx.ModelProto) -> list[int]:
    """Make every tensor of the main graph an output, and count the trips of its Loops; the places of these."""
    del model.graph.value_info[:]
    have = {value.name for value in model.graph.output}
    loops = []
    for index, node in enumerate(model.graph.node):
        if node.op_type == "Loop" and node.domain in ("", "ai.onnx"):
            _count_trips(node, index)
            loops.append(index)
        for name in node.output:
            if name and name not in have:
                model.graph.output.add().name = name
                have.add(name)
    return loops


def _count_trips(node: onnx.NodeProto, index: int) -> None:
    body = next(attribute.g for attribute in node.attribute if attribute.name == "body")
    inner = f"{TRIPS}{index}_number"
    body.node.append(onnx.helper.make_node("Identity", [body.input[0].name], [inner]))
    body.output.append(onnx.helper.make_tensor_value_info(inner, onnx.TensorProto.INT64, []))
    node.output.append(TRIPS + str(index))


def _value(array: Array, elem_type: int) -> Any:
    from onnxruntime import OrtValue

    if array.dtype.kind in "biufcOU":
        return OrtValue.ortvalue_from_numpy(array)
    return OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(f"u{array.dtype.itemsize}"), elem_type)


def _described(value: Any) -> tuple[str, tuple[int, ...]]:
    name = value.data_type().removeprefix("tensor(").removesuffix(")")
    return {"float": "float32", "double": "float64"}.get(name, name), tuple(value.shape())

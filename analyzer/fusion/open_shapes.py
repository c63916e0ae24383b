"""What a runtime knows of shapes before a run: what onnx's own inference finds, names for the dimensions that are open.

Some fusions ask whether two tensors have one shape. The report knows the sizes of this run; the runtime, which
rewrites the graph before any run, only knows what this inference tells it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx

from neural_cost.analyzer.errors import ModelError
from neural_cost.analyzer.model_file import read_model

OpenDims = tuple[int | str | None, ...]


def open_shapes(file: Path) -> Mapping[str, OpenDims] | None:
    """Shapes of all tensors by name, None for what is not known of them; None where the inference fails."""
    try:
        proto, _ = read_model(file)
        found = onnx.shape_inference.infer_shapes(proto)
    except (ModelError, ValueError, RuntimeError, onnx.shape_inference.InferenceError):
        return None
    return dict(_shapes(found))


def _shapes(model: onnx.ModelProto) -> Iterator[tuple[str, OpenDims]]:
    graph = model.graph
    for weight in graph.initializer:
        yield weight.name, tuple(weight.dims)
    for value in (*graph.input, *graph.output, *graph.value_info):
        if value.type.tensor_type.HasField("shape"):
            yield value.name, tuple(_dim(dim) for dim in value.type.tensor_type.shape.dim)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if dim.HasField("dim_value"):
        return int(dim.dim_value)
    return dim.dim_param or None

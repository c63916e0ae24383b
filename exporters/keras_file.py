"""tf2onnx, and what is caught and mended in its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from neural_cost.analyzer.errors import ExportError
from neural_cost.exporters.dim_names import name_dims
from neural_cost.exporters.messages import first_line
from neural_cost.exporters.protocol import Array, Dims
from neural_cost.exporters.tf2onnx_conversion import Conversion, conversion
from neural_cost.exporters.tf2onnx_mends import mend
from neural_cost.exporters.weight_origins import unite

WAYS_OUT = {
    "Erfc": "gelu in its exact form: use gelu(approximate=True), or write it with tf.math.erf",
    "XlaCallModule": "a function of JAX: export it with JAX's own exporter",
}
BRANCH = "as a Python `bool` is not allowed"
TOO_LARGE = 2_000_000_000  # bytes; a protobuf ends at 2 GiB


def write(
    function: Callable[..., Any],
    example: Mapping[str, Array],
    dims: Dims,
    outputs: Sequence[str],
    file: Path,
    *,
    opset: int,
) -> None:
    """Convert a function of flat tensors.

    Raises:
        ExportError: it cannot be captured, holds an operator without translation, or is too large.
    """
    import onnx
    import tensorflow as tf

    flat = tf.function(lambda *tensors: tuple(tf.nest.flatten(function(*tensors))))
    try:
        found = conversion(flat, _signature(example, dims), opset)
        proto = found.model()
    except Exception as error:
        refuse_branch(error)
        raise ExportError(f"tf2onnx cannot export the model ({type(error).__name__}): {first_line(error)}") from error
    _refuse_unknown(proto.graph)
    if proto.ByteSize() > TOO_LARGE:
        raise ExportError("the model has more than 2 GB of weights, which tf2onnx cannot write: export a smaller one.")
    onnx.save(_named(proto, found, list(example), outputs, dims), file)


def refuse_branch(error: Exception) -> None:
    """Say what it means that a tensor of a graph was taken for a truth value."""
    if BRANCH in str(error):
        raise ExportError(
            "the model branches on the value of a tensor, which a graph cannot hold: use tf.cond or tf.where."
        ) from error


def _signature(example: Mapping[str, Array], dims: Dims) -> list[Any]:
    import tensorflow as tf

    return [
        tf.TensorSpec(
            [None if axis in dims.get(name, {}) else size for axis, size in enumerate(array.shape)],
            array.dtype,
            name=f"argument_{index}",
        )
        for index, (name, array) in enumerate(example.items())
    ]


def _named(proto: Any, found: Conversion, inputs: Sequence[str], outputs: Sequence[str], dims: Dims) -> Any:
    """Give inputs, outputs and dimensions the names that a user knows."""
    import onnx_ir as ir

    model = ir.from_proto(proto)
    unite(model, lambda: ir.from_proto(found.shaken().model()), copies=bool(found.copies))
    for value in model.graph.inputs:
        name = (value.name or "").partition(":")[0]
        value.name = inputs[int(name.removeprefix("argument_"))]
    for value, name in zip(model.graph.outputs, outputs, strict=True):
        value.name = name
    name_dims(model, dims)
    for graph in model.graphs():
        mend(graph)
    return ir.to_proto(model)


def _refuse_unknown(graph: Any) -> None:
    """tf2onnx logs an operator that it cannot translate, and writes it into the file all the same."""
    import onnx

    for node in _nodes(graph):
        if node.domain in ("", "ai.onnx") and not onnx.defs.has(node.op_type):
            way_out = WAYS_OUT.get(node.op_type, "build the model without it")
            raise ExportError(
                f"TensorFlow's operator {node.op_type} (node {node.name}) has no ONNX translation: {way_out}."
            )


def _nodes(graph: Any) -> Iterator[Any]:
    graphs = [graph]
    while graphs:
        for node in graphs.pop().node:
            yield node
            graphs += [attribute.g for attribute in node.attribute if attribute.HasField("g")]

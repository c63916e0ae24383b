"""What is true of a model, found without the analyzer: shapes from a run, MACs by textbook formulas.

The model runs in ONNX Runtime (CPU, graph optimizations off) with every tensor of the main graph made an output.
Bodies of If, Loop and Scan and of model-local functions are not exposed: nodes that have one are listed as `unseen`,
and their work is in no figure here. Nothing of `neural_cost` is imported: its faults must not hide here too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from tests.true_macs import FORMULAS, TrueTensor, Work

ONNX_DOMAINS = ("", "ai.onnx")


@dataclass(frozen=True)
class Truth:
    """What one run showed. Nodes go by their index in the file, since names may be missing or double."""

    tensors: Mapping[str, TrueTensor]
    macs: Mapping[int, int]
    unseen: tuple[int, ...]

    @property
    def total_macs(self) -> int:
        return sum(self.macs.values())


def truth_of(
    model: str | Path | onnx.ModelProto,
    *,
    dims: Mapping[str, int] | None = None,
    feeds: Mapping[str, np.ndarray] | None = None,
) -> Truth:
    """Run a model and count it.

    Inputs that `feeds` lacks are made up: uniform floats, integers and booleans of one, open dimensions from `dims` (by
    name, or `input:axis`), else 1.
    """
    proto = model if isinstance(model, onnx.ModelProto) else onnx.load(model)
    made_up = {value.name: _made_up(value, dims or {}) for value in _true_inputs(proto.graph)}
    tensors = _run(proto, {**made_up, **(feeds or {})})
    return Truth(tensors, dict(_macs(proto, tensors)), tuple(_unseen(proto)))


def _true_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    weights = _weight_names(graph)
    return [value for value in graph.input if value.name not in weights]


def _weight_names(graph: onnx.GraphProto) -> set[str]:
    sparse = {tensor.values.name for tensor in graph.sparse_initializer}
    return {tensor.name for tensor in graph.initializer} | sparse


def _made_up(value: onnx.ValueInfoProto, dims: Mapping[str, int]) -> np.ndarray:
    tensor = value.type.tensor_type
    sizes = enumerate(tensor.shape.dim)
    shape = [dim.dim_value or dims.get(dim.dim_param or f"{value.name}:{axis}", 1) for axis, dim in sizes]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if np.issubdtype(dtype, np.floating):
        return np.random.default_rng(0).random(shape).astype(dtype)
    return np.ones(shape, dtype)


def _run(proto: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> dict[str, TrueTensor]:
    session = _session(_exposed(proto))
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
    names = [value.name for value in session.get_outputs()]
    results = zip(names, session.run_with_ort_values(names, values), strict=True)
    made = {name: _described(value) for name, value in results if value.has_value() and value.is_tensor()}
    given = {name: _described(value) for name, value in values.items()}
    return {**_weights(proto.graph), **given, **made}


def _exposed(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy in which every tensor that a node of the main graph makes is an output of the model."""
    exposed = onnx.ModelProto()
    exposed.CopyFrom(proto)
    have = {value.name for value in exposed.graph.output}
    for name in (name for node in exposed.graph.node for name in node.output if name):
        if name not in have:
            exposed.graph.output.add().name = name
            have.add(name)
    return exposed


def _session(proto: onnx.ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _described(value: onnxruntime.OrtValue) -> TrueTensor:
    return _tensor(value.data_type().removeprefix("tensor(").removesuffix(")"), value.shape())


def _tensor(dtype: str, shape: Iterable[int]) -> TrueTensor:
    return TrueTensor({"float": "float32", "double": "float64"}.get(dtype, dtype), tuple(shape))


def _weights(graph: onnx.GraphProto) -> dict[str, TrueTensor]:
    dense = {tensor.name: tensor for tensor in graph.initializer}
    sparse = {tensor.values.name: tensor.values for tensor in graph.sparse_initializer}
    dims = {tensor.values.name: tensor.dims for tensor in graph.sparse_initializer}
    return {
        name: _tensor(onnx.TensorProto.DataType.Name(tensor.data_type).lower(), dims.get(name, tensor.dims))
        for name, tensor in (dense | sparse).items()
    }


def _macs(proto: onnx.ModelProto, tensors: Mapping[str, TrueTensor]) -> Iterable[tuple[int, int]]:
    """Yield the index and the MACs of every contraction that runs: what depends on constants alone does not."""
    folded = _folded(proto.graph)
    for index, node in enumerate(proto.graph.node):
        domain = "" if node.domain in ONNX_DOMAINS else node.domain
        formula = FORMULAS.get((domain, node.op_type))
        if formula and index not in folded:
            yield index, formula(_work(node, tensors))


def _work(node: onnx.NodeProto, tensors: Mapping[str, TrueTensor]) -> Work:
    attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    return Work([tensors.get(name) for name in node.input], [tensors.get(name) for name in node.output], attributes)


def _folded(graph: onnx.GraphProto) -> set[int]:
    """Return the indices of nodes that depend on constants alone."""
    constant, folded = _weight_names(graph) | {""}, set()
    for index, node in enumerate(graph.node):
        if not node.op_type.startswith("Random") and constant.issuperset(_read(node)):
            folded.add(index)
            constant.update(node.output)
    return folded


def _read(node: onnx.NodeProto) -> set[str]:
    """Return every tensor that a node reads from outside, those of its bodies included."""
    read = set(node.input)
    for body in _bodies(node):
        made = {name for inner in body.node for name in inner.output} | {value.name for value in body.input}
        read |= {name for inner in body.node for name in _read(inner)} - made - _weight_names(body)
    return read


def _bodies(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    return [attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]


def _unseen(proto: onnx.ModelProto) -> Iterable[int]:
    functions = {(function.domain, function.name) for function in proto.functions}
    for index, node in enumerate(proto.graph.node):
        if _bodies(node) or (node.domain, node.op_type) in functions:
            yield index

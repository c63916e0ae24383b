"""ONNX's own node tests as models that give nothing away, and what the pipeline makes of them.

Declared output shapes are taken off, inputs have their recorded shapes, and small integer inputs are constants.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from neural_cost.analyzer.dimensions import bind
from neural_cost.analyzer.load import load
from neural_cost.analyzer.shapes import infer
from neural_cost.analyzer.walk import Walk

MAX_ELEMENTS = 64  # an integer input of so many elements is a shape, axes or a count
FLOATS = {"OneHot": (1,), "Range": (0, 1, 2), "Resize": (1, 2), "Upsample": (1,)}  # float inputs that set a size
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A stripped test model, the inputs that were made constants, and what its outputs truly are."""

    name: str
    model: onnx.ModelProto
    constants: Sequence[str]
    truth: dict[str, Any]
    optional: Collection[str]  # outputs that are optional, which their recorded data do not tell


@dataclass(frozen=True, slots=True)
class Verdict:
    """Right, unknown or wrong, with the outputs that are not right."""

    verdict: str
    why: str


def cases() -> list[Case]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the test data overflow and divide by zero on purpose
        from onnx.backend.test.case.node import collect_testcases

        return [_case(case) for case in collect_testcases(None)]


def without(case: Case, name: str) -> Case:
    """The case with one constant made an input again: its values are not known."""
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    kept = [tensor for tensor in case.model.graph.initializer if tensor.name != name]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    left = next(tensor for tensor in case.model.graph.initializer if tensor.name == name)
    model.graph.input.append(onnx.helper.make_tensor_value_info(name, left.data_type, list(left.dims)))
    return replace(case, model=model, constants=[each for each in case.constants if each != name])


def shapes(case: Case) -> dict[str, tuple[int, ...]]:
    """True shapes of the outputs that are tensors."""
    tensors = {name: None if isinstance(data, list) else _tensor(data, "") for name, data in case.truth.items()}
    return {name: tuple(tensor.dims) for name, tensor in tensors.items() if tensor is not None}


def judge(case: Case, folder: Path) -> Verdict:
    """Load, bind, infer and walk, and compare every output with the truth."""
    file = folder / "case.onnx"
    file.write_bytes(case.model.SerializeToString())
    model = load(file)
    open_sequences = {value.name: None for value in model.ir.graph.inputs if _numbers(value.shape) is None}
    binding = bind(model, {}, {})
    inference = infer(model, replace(binding, inputs=binding.inputs | open_sequences, assumed=[]), {})
    Walk(inference).model()
    reasons = inference.engine.why
    verdicts = {value: _compare(value, case) for value in model.ir.graph.outputs}
    bad = [f"{v.name} is {v.type} {v.shape} ({reasons.get(v, '')})" for v, d in verdicts.items() if d != "right"]
    return Verdict(min(verdicts.values(), key=("wrong", "unknown", "right").index), "; ".join(bad))


def _numbers(shape: ir.Shape | None) -> tuple[int, ...] | None:
    if shape is None or any(not isinstance(dim, int) for dim in shape):
        return None
    return tuple(dim for dim in shape if isinstance(dim, int))


def _case(case: Any) -> Case:
    inputs, outputs = case.data_sets[0]
    model = onnx.ModelProto.FromString(case.model.SerializeToString())
    truth = dict(zip((value.name for value in model.graph.output), outputs, strict=True))
    optional = {value.name for value in model.graph.output if value.type.HasField("optional_type")}
    _strip(model.graph)
    return Case(case.name, model, list(_make_constants(model.graph, inputs, _sizing_floats(case))), truth, optional)


def _strip(graph: onnx.GraphProto) -> None:
    """Take off what is declared of inner values and outputs, in bodies too."""
    del graph.value_info[:]
    for value in graph.output:
        value.ClearField("type")
    for attr in (attr for node in graph.node for attr in node.attribute if attr.HasField("g")):
        _strip(attr.g)


def _sizing_floats(case: Any) -> set[str]:
    """Float inputs whose values set a size; the expanded forms of Range compute their trip count from such."""
    graph = case.model.graph
    if case.name.startswith("test_range_"):
        return {value.name for value in graph.input}
    return {node.input[i] for node in graph.node for i in FLOATS.get(node.op_type, ()) if i < len(node.input)}


def _make_constants(graph: onnx.GraphProto, inputs: Sequence[Any], floats: set[str]) -> Iterator[str]:
    declared = [onnx.ValueInfoProto.FromString(value.SerializeToString()) for value in graph.input]
    del graph.input[:]
    for value, data in zip(declared, inputs, strict=True):
        tensor = _tensor(data, value.name)
        if tensor is not None and _is_constant(onnx.numpy_helper.to_array(tensor), value.name in floats):
            graph.initializer.append(tensor)
            yield value.name
            continue
        if tensor is not None and value.type.HasField("tensor_type"):
            value.CopyFrom(onnx.helper.make_tensor_value_info(value.name, tensor.data_type, list(tensor.dims)))
        graph.input.append(value)


def _is_constant(array: Array, sizing: bool) -> bool:
    return array.size <= MAX_ELEMENTS and (array.dtype.kind in "iub" or sizing)


def _tensor(data: Any, name: str) -> onnx.TensorProto | None:
    """Recorded data as a tensor; None for a sequence, or an optional that is empty."""
    if isinstance(data, onnx.TensorProto):
        tensor = onnx.TensorProto.FromString(data.SerializeToString())
        tensor.name = name
        return tensor
    return onnx.numpy_helper.from_array(np.asarray(data), name) if isinstance(data, np.ndarray | np.generic) else None


def _compare(value: ir.Value, case: Case) -> str:
    truth = case.truth[value.name or ""]
    if value.type is None:
        return "unknown"
    optional = isinstance(value.type, ir.OptionalType)
    type_ = value.type.elem_type if optional else value.type
    if optional != (value.name in case.optional) or isinstance(type_, ir.SequenceType) != isinstance(truth, list):
        return "wrong"
    if isinstance(truth, list):
        return _compare_sequence(value, [_tensor(np.asarray(each), "") for each in truth if each is not None])
    tensor = _tensor(truth, "")
    if tensor is None:  # an empty optional
        return "right"
    if value.dtype not in (None, tensor.data_type):
        return "wrong"
    return "unknown" if value.dtype is None else _fits(value.shape, tuple(tensor.dims))


def _compare_sequence(value: ir.Value, truth: Sequence[onnx.TensorProto | None]) -> str:
    """A sequence is right with its element type, and with an element shape that is known, where all have it."""
    tensors = [tensor for tensor in truth if tensor is not None]
    if any(tensor.data_type != value.dtype for tensor in tensors):
        return "wrong"
    return "wrong" if any(_fits(value.shape, tuple(tensor.dims)) == "wrong" for tensor in tensors) else "right"


def _fits(shape: ir.Shape | None, truth: tuple[int, ...]) -> str:
    if shape is None:
        return "unknown"
    if len(shape) != len(truth) or any(isinstance(a, int) and a != b for a, b in zip(shape, truth, strict=True)):
        return "wrong"
    return "right" if all(isinstance(dim, int) for dim in shape) else "unknown"

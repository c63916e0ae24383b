"""Which constants of a converted graph are one weight: told apart by what they would be if the model had been trained.

Two biases of zeros are equal and yet two weights, while a kernel that two convolutions share is written twice and is
one. So where it matters a graph is converted a second time, with numbers of their own in each weight whose numbers are
all alike; what is equal there too, is one.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from neural_cost.exporters.protocol import Array

FEW = 2  # different numbers in a weight of initial values: the bias of an LSTM has zeros and ones
FIRST = 64  # elements that tell most weights with many numbers
NO_FLOATS = "biuSO"  # kinds of numpy
RECURRENT = {"LSTM", "GRU", "RNN"}
NOT_ALIKE = "two conversions of the model are not alike, so it is not known which of them are one"
BIAS = 3  # its place among the inputs of a recurrent operator


def shake(graph: Any, names: Collection[str], copies: Collection[str]) -> Any:
    """A copy of a GraphDef with random positive numbers in those of its weights that are no weight's own.

    Args:
        graph: it has constants for its weights.
        names: of those.
        copies: names of those that `copied` finds.
    """
    from tensorflow.python.framework.tensor_util import MakeNdarray, make_tensor_proto

    shaken, random = type(graph)(), np.random.default_rng(0)
    shaken.CopyFrom(graph)
    for node in shaken.node:
        if node.name in names and node.op == "Const":
            values = MakeNdarray(node.attr["value"].tensor)
            if is_alike(values) or node.name in copies:
                drawn = random.uniform(0.5, 1.5, values.shape).astype(values.dtype)
                node.attr["value"].tensor.CopyFrom(make_tensor_proto(drawn))
    return shaken


def copied(graph: Any, names: Collection[str]) -> set[str]:
    """Names of weights of a GraphDef that have many different numbers, and yet the same ones as another weight."""
    from tensorflow.python.framework.tensor_util import MakeNdarray

    sizes: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for node in graph.node:
        if node.name in names and node.op == "Const":
            tensor = node.attr["value"].tensor
            sizes[tensor.dtype, tensor.ByteSize()].append(node)
    found: set[str] = set()
    for group in (group for group in sizes.values() if len(group) > 1):
        of: dict[bytes, list[str]] = defaultdict(list)
        for node in group:
            values = MakeNdarray(node.attr["value"].tensor)
            if values.dtype.kind not in NO_FLOATS and not is_alike(values):
                of[sha256(repr(values.shape).encode() + values.tobytes()).digest()].append(node.name)
        found |= {name for equal in of.values() if len(equal) > 1 for name in equal}
    return found


def unite(model: Any, shaken: Callable[[], Any], *, copies: bool) -> None:
    """Leave one of those constants in a model that are one weight, and no bias where a recurrent layer has none.

    Args:
        model: an onnx_ir model, which is changed.
        shaken: converts it anew, with other numbers in weights whose numbers are all alike, or those of another.
        copies: whether weights of many different numbers have those of another.
    """
    groups = [group for graph in model.graphs() for group in _equal(graph)]
    doubtful = {value.name for group in groups for value in group if copies or is_alike(_array(value))}
    doubtful |= {value.name for value in _zero_biases(model)}
    trained = _trained(model, shaken()) if doubtful else {}
    if trained is None:
        logging.getLogger("tf2onnx").warning("weights that layers share may count more than once: %s", NOT_ALIKE)
        return
    for group in groups:
        _unite(group, [trained.get(id(v), _array(v)) if v.name in doubtful else _array(v) for v in group])
    for value in list(_zero_biases(model)):
        if not trained.get(id(value), _array(value)).any():
            for node, place in list(value.uses()):
                node.replace_input_with(place, None)


def is_alike(values: Array) -> bool:
    """Whether several floats have two different values at most, as weights of initial values do."""
    if values.dtype.kind in NO_FLOATS or values.size < 2:
        return False
    if len(np.unique(values.reshape(-1)[:FIRST])) > FEW:
        return False
    return len(np.unique(values)) <= FEW


def _equal(graph: Any) -> list[list[Any]]:
    """Constants of several floats of one graph that are equal, two and more."""
    groups = defaultdict(list)
    for value in graph.initializers.values():
        tensor = value.const_value
        if tensor is not None and tensor.dtype.is_floating_point() and tensor.size > 1 and not value.is_graph_output():
            groups[tensor.dtype, tuple(tensor.shape.numpy()), hash(tensor.tobytes())].append(value)
    return [group for group in groups.values() if len(group) > 1]


def _unite(group: Sequence[Any], trained: Sequence[Array]) -> None:
    kept: dict[bytes, Any] = {}
    for value, array in zip(group, trained, strict=True):
        first = kept.setdefault(array.tobytes(), value)
        if first is not value:
            value.replace_all_uses_with(first)
            del value.graph.initializers[value.name]


def _zero_biases(model: Any) -> Iterator[Any]:
    """Biases of recurrent operators that are zeros; tf2onnx writes one for a layer without a bias too."""
    for graph in model.graphs():
        for node in graph:
            if node.op_type in RECURRENT and len(node.inputs) > BIAS and node.inputs[BIAS] is not None:
                value = node.inputs[BIAS]
                if value.const_value is not None and not _array(value).any():
                    yield value


def _trained(model: Any, shaken: Any) -> dict[int, Array] | None:
    """What each constant of a model would be, by its identity; None where the two models are not alike.

    Names do not tell: tf2onnx numbers what it makes in another order every time.
    """
    ours, theirs = _constants(model), _constants(shaken)
    if [each.shape for each in ours] != [each.shape for each in theirs]:
        return None  # then all weights stay apart
    return {id(one): _array(other) for one, other in zip(ours, theirs, strict=True)}


def _constants(model: Any) -> list[Any]:
    """Constants in the order in which one comes to them from the outputs."""
    found, seen = [], set()
    waiting = list(reversed(model.graph.outputs))
    while waiting:
        value = waiting.pop()
        if value is None or id(value) in seen:
            continue
        seen.add(id(value))
        if value.const_value is not None:
            found.append(value)
        if (node := value.producer()) is not None:
            bodies = [graph for each in node.attributes.values() for graph in _graphs(each)]
            waiting.extend(reversed([*node.inputs, *(output for body in bodies for output in body.outputs)]))
    return found


def _graphs(attribute: Any) -> Sequence[Any]:
    import onnx_ir as ir

    if attribute.type == ir.AttributeType.GRAPH:
        return [attribute.as_graph()]
    return attribute.as_graphs() if attribute.type == ir.AttributeType.GRAPHS else []


def _array(value: Any) -> Array:
    array: Array = value.const_value.numpy()
    return array

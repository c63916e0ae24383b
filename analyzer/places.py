"""Where the tensors of a file stand: initializers, attributes, bodies, functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from functools import partial

import onnx_ir as ir


@dataclass(frozen=True, slots=True)
class Place:
    """A tensor, and the way to put another one in its place."""

    tensor: ir.TensorProtocol
    put: Callable[[ir.TensorProtocol], None]


def places(model: ir.Model) -> Iterator[Place]:
    """Every tensor whose elements the file gives, once for each place where it stands."""
    graphs: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    for function in model.functions.values():
        yield from _of_attributes(function.attributes, graphs)
    while graphs:
        graph = graphs.pop()
        if isinstance(graph, ir.Graph):
            for value in graph.initializers.values():
                if value.const_value is not None:
                    yield Place(value.const_value, partial(setattr, value, "const_value"))
        for node in graph:
            if node.attributes:
                yield from _of_attributes(node.attributes, graphs)


def _of_attributes(attributes: MutableMapping[str, ir.Attr], graphs: list[ir.Graph | ir.Function]) -> Iterator[Place]:
    """The tensors among attributes; the bodies go to the graphs that are still to be looked through."""
    for name, attr in list(attributes.items()):
        if attr.is_ref():
            continue
        match attr.type:
            case ir.AttributeType.GRAPH:
                graphs.append(attr.as_graph())
            case ir.AttributeType.GRAPHS:
                graphs += attr.as_graphs()
            case ir.AttributeType.TENSOR:
                yield Place(attr.as_tensor(), partial(_put, attributes, name, None))
            case ir.AttributeType.TENSORS:
                for index, tensor in enumerate(attr.as_tensors()):
                    yield Place(tensor, partial(_put, attributes, name, index))


def _put(attributes: MutableMapping[str, ir.Attr], name: str, index: int | None, tensor: ir.TensorProtocol) -> None:
    if index is None:
        attributes[name] = ir.AttrTensor(name, tensor)
    else:
        tensors = list(attributes[name].as_tensors())
        tensors[index] = tensor
        attributes[name] = ir.AttrTensors(name, tensors)

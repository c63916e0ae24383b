"""What a graph must hold to before it is built: versions, names, sizes, depth. Whatever does not is refused.

Bodies and functions are checked like the graph itself, one after the other: nothing here depends on their depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from typing import NoReturn

import onnx
from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

from neural_cost.analyzer.errors import ModelError, quoted
from neural_cost.analyzer.shape_checks import MAX_RANK, MAX_SIZE

AGAIN = "export it again"
GRAPH, GRAPHS = AttributeProto.GRAPH, AttributeProto.GRAPHS
Scopes = Sequence[set[str]]  # names that a graph may read: its own, then those of the graphs around it


def check_graphs(model: ModelProto, file: Path) -> None:
    """Refuse what no runtime could run; dimensions below 0, with which old exporters mean open ones, become that.

    Raises:
        ModelError: names made twice or by nobody, inputs given twice, sizes of weights below 0, or no outputs.
    """
    _Checks(file).model(model)


def check_opsets(model: ModelProto, file: Path) -> list[str]:
    """Give the default domain a version where the file has none, the way ONNX Runtime does; say so.

    Raises:
        ModelError: a version that does not exist, or two of one domain.
    """
    versions: dict[str, int] = {}
    for entry in model.opset_import:
        if entry.domain == "ai.onnx":
            entry.domain = ""
        name = f"ai.onnx {entry.version}" if not entry.domain else f"{quoted(entry.domain)} {entry.version}"
        if entry.version < (0 if entry.domain else 1):
            raise ModelError(f"{file} says that it uses opset {name}, which does not exist; {AGAIN}.")
        if versions.setdefault(entry.domain, entry.version) != entry.version:
            raise ModelError(f"{file} says that it uses two opsets of one domain, {name} is one of them; {AGAIN}.")
    if model.ir_version < 0:
        raise ModelError(f"{file} says that its IR version is {model.ir_version}, which does not exist; {AGAIN}.")
    return _newer(model, versions) + _default_opset(model, versions)


def _newer(model: ModelProto, versions: dict[str, int]) -> list[str]:
    notes = []
    newest = onnx.defs.onnx_opset_version()
    if versions.get("", 0) > newest:
        notes.append(f"opset {versions['']} is newer than the newest known here, {newest}: rules of {newest} were used")
    if model.ir_version > onnx.IR_VERSION:
        notes.append(f"IR version {model.ir_version} is newer than the newest known here, {onnx.IR_VERSION}")
    return notes


def _default_opset(model: ModelProto, versions: dict[str, int]) -> list[str]:
    newest = onnx.defs.onnx_opset_version()
    if "" in versions:
        return []
    if not any(node.domain in ("", "ai.onnx") for node in model.graph.node):
        model.opset_import.add(domain="", version=newest)
        return []
    version = 1 if model.ir_version < 3 else newest
    model.opset_import.add(domain="", version=version)
    return [f"the file does not say which opset it uses: {version} was taken"]


class _Checks:
    def __init__(self, file: Path) -> None:
        self.file = file

    def model(self, model: ModelProto) -> None:
        graph = model.graph
        self._text(model.producer_name, graph.name, *(entry.domain for entry in model.opset_import))
        if not graph.output:
            self._refuse("the graph has no outputs, so nothing of it has to run")
        made = self._graph(graph, inner=False)
        self._bodies(graph.node, [made], inner=False)
        names = set()
        for function in model.functions:
            key = (function.domain, function.name, function.overload)
            self._text(*key, *function.input, *(entry.domain for entry in function.opset_import))
            self._dimensions(function.value_info)
            if key in names:
                self._refuse(f"the function {quoted(function.name)} is there twice")
            names.add(key)
            self._function(function)

    def _refuse(self, what: str) -> NoReturn:
        raise ModelError(f"{self.file}: {what}; {AGAIN}.")

    def _function(self, function: FunctionProto) -> None:
        made = self._made(function.node, set(function.input))
        for name in function.output:
            if name not in made:
                self._refuse(f"nothing makes the output {quoted(name)} of the function {quoted(function.name)}")
        self._bodies(function.node, [made], inner=True)

    def _graph(self, graph: GraphProto, *, inner: bool, outer: Scopes = ()) -> set[str]:
        """Check what a graph declares; the names that it makes."""
        declared = self._inputs(graph)
        initializers = self._initializers(graph)
        made = self._made(graph.node, declared | initializers)
        for values in (graph.input, graph.output, graph.value_info):
            self._dimensions(values)
        for value in graph.output:
            if value.name not in made and not any(value.name in scope for scope in outer):
                self._refuse(f"nothing makes the output {quoted(value.name)}")
        return made

    def _dimensions(self, values: Iterable[onnx.ValueInfoProto]) -> None:
        """Old exporters write -1 for a dimension that is open."""
        for value in values:
            dims = value.type.tensor_type.shape.dim if value.type.HasField("tensor_type") else ()
            if len(dims) > MAX_RANK:
                self._refuse(
                    f"{quoted(value.name)} has {len(dims):,} dimensions, and at most {MAX_RANK} are known here"
                )
            elements = 1
            for dim in dims:
                size = dim.dim_value
                elements *= size or 1
                if size < 0:
                    dim.ClearField("dim_value")
                elif not size and type(dim.dim_param) is not str:
                    self._text(dim.dim_param)
            if abs(elements) > MAX_SIZE:
                self._refuse(f"{quoted(value.name)} has more elements than 64 bits can count")

    def _text(self, *names: object) -> None:
        """protobuf hands on as bytes what is no UTF-8."""
        for name in names:
            if type(name) is not str:
                self._refuse(f"the name {quoted(name)} is no text in UTF-8")

    def _inputs(self, graph: GraphProto) -> set[str]:
        names: set[str] = set()
        for value in graph.input:
            if value.name in names:
                self._refuse(f"the input {quoted(value.name)} is there twice")
            if not value.name:
                self._refuse("an input has no name")
            self._text(value.name)
            names.add(value.name)
        return names

    def _initializers(self, graph: GraphProto) -> set[str]:
        found: dict[str, TensorProto] = {}
        sparse = [tensor.values for tensor in graph.sparse_initializer]
        for tensor in (*graph.initializer, *sparse):
            self._text(tensor.name)
            if len(tensor.dims) > MAX_RANK:
                self._refuse(f"the weight {quoted(tensor.name)} has more than {MAX_RANK} dimensions")
            if any(dim < 0 for dim in tensor.dims) or prod(tensor.dims) > MAX_SIZE:
                self._refuse(
                    f"the weight {quoted(tensor.name)} has the shape {quoted(list(tensor.dims))[1:-1]}, which no "
                    "tensor can have"
                )
            other = found.setdefault(tensor.name, tensor)
            if other is not tensor and (list(other.dims), other.data_type) != (list(tensor.dims), tensor.data_type):
                self._refuse(f"the weight {quoted(tensor.name)} is there twice, in two shapes or types")
        return set(found)

    def _made(self, nodes: Iterable[NodeProto], made: set[str]) -> set[str]:
        for node in nodes:
            for name in node.output:
                if name:
                    if type(name) is not str:
                        self._text(name)
                    if name in made:
                        self._refuse(f"the tensor {quoted(name)} is made twice (by node {quoted(node.name)})")
                    made.add(name)
        return made

    def _bodies(self, nodes: Iterable[NodeProto], scopes: Scopes, *, inner: bool) -> None:
        """Check what nodes read, and the bodies that they hold, however deep. `inner` is for those of a function."""
        todo: list[tuple[Iterable[NodeProto], Scopes]] = [(nodes, scopes)]
        while todo:
            current, around = todo.pop()
            for node in current:
                self._reads(node, around)
                self._text(node.name, node.op_type, node.domain)
                for attr in node.attribute:
                    if not inner and attr.ref_attr_name:
                        self._refuse(
                            f"node {quoted(node.name)} ({node.op_type}) takes its attribute {quoted(attr.name)} from "
                            "a function, and stands in none"
                        )
                    if attr.type in (GRAPH, GRAPHS):
                        for body in (*([attr.g] if attr.type == GRAPH else ()), *attr.graphs):
                            made = self._graph(body, inner=inner, outer=around)
                            todo.append((body.node, [made, *around]))

    def _reads(self, node: NodeProto, scopes: Scopes) -> None:
        own = scopes[0]
        for name in node.input:
            if name and name not in own and not any(name in scope for scope in scopes[1:]):
                self._refuse(
                    f"node {quoted(node.name)} ({quoted(node.op_type)}) reads the tensor {quoted(name)}, which nothing "
                    "makes"
                )

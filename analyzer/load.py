"""File -> Model: weights stay on disk, nodes are sorted, functions are inlined, bad files are refused."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import onnx
import onnx_ir
import onnx_ir as ir

from neural_cost.analyzer.errors import ModelError
from neural_cost.analyzer.external_data import locate_external_data
from neural_cost.analyzer.functions import inline_functions
from neural_cost.analyzer.inline_data import KEEP, link_inline_data, read_model


@dataclass(slots=True)
class Model:
    """A loaded model: the graph, where it came from, and what a reader should know about how it was read."""

    path: str
    ir: onnx_ir.Model
    file_index: dict[onnx_ir.Node, int]
    has_functions: bool
    notes: list[str] = field(default_factory=list)

    @property
    def opset(self) -> int:
        """Version of the default domain."""
        return self.ir.opset_imports.get("", 1)


@contextmanager
def paused_gc() -> Iterator[None]:
    """Hold the cyclic garbage collector: it walks the growing graph again and again, which is quadratic."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def load(path: str | os.PathLike[str]) -> Model:
    """Load an ONNX file without its external data.

    Raises:
        ModelError: the file is missing, not a file, not ONNX, has no graph, is cyclic, or points outside its folder.
    """
    file = Path(path)
    proto, data_left = _read(file)
    notes = _opsets(proto)
    try:
        model = ir.from_proto(proto)
        if data_left:
            link_inline_data(model, file)
    except Exception as error:
        raise ModelError(f"{file} is not a valid ONNX model ({_first_line(error)}); export it again.") from error
    notes += locate_external_data(model, file)
    has_functions = bool(model.functions)
    try:
        inline_functions(model)
    except Exception as error:
        raise ModelError(f"{file}: its functions cannot be inlined ({_first_line(error)}).") from error
    index = {node: i for i, node in enumerate(model.graph)}
    try:
        if not _in_order(model.graph):
            model.graph.sort()
    except ValueError as error:
        raise ModelError(
            f"{file}: the graph has a cycle, so no order of its nodes can run; export it again."
        ) from error
    return Model(str(file), model, index, has_functions, notes)


def _read(file: Path) -> tuple[onnx.ModelProto, bool]:
    """The file as protobuf has it, and whether data of big tensors was left out."""
    if not file.exists():
        raise ModelError(f"{file} does not exist; give the path of an .onnx file.")
    if file.is_dir():
        raise ModelError(f"{file} is a directory; give the path of an .onnx file in it.")
    proto = onnx.ModelProto()
    try:
        data, data_left = read_model(file, KEEP)
        proto.ParseFromString(data)
    except OSError as error:
        raise ModelError(f"{file} cannot be read ({error.strerror}).") from error
    except Exception as error:
        raise ModelError(
            f"{file} is not an ONNX file, or is cut off: its protobuf cannot be read; export or download it again."
        ) from error
    if not data:
        raise ModelError(f"{file} is empty; export or download the model again.")
    if not proto.HasField("graph") or not (proto.graph.node or proto.graph.output):
        raise ModelError(f"{file} holds no graph: it is not an ONNX model; export or download it again.")
    _check_tensors(proto, file)
    return proto, data_left


def _check_tensors(proto: onnx.ModelProto, file: Path) -> None:
    """Refuse names made twice, and names that nobody makes, before the graph is built on them."""
    graph = proto.graph
    made = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    made |= {tensor.values.name for tensor in graph.sparse_initializer}
    for node in graph.node:
        for name in node.output:
            if name and name in made:
                raise ModelError(f'{file}: the tensor "{name}" is made twice (by node "{node.name}"); export it again.')
            made.add(name)
    for node in graph.node:
        for name in node.input:
            if name and name not in made:
                raise ModelError(
                    f'{file}: node "{node.name}" ({node.op_type}) reads the tensor "{name}", which nothing makes; '
                    "export it again."
                )
    for value in graph.output:
        if value.name not in made:
            raise ModelError(f'{file}: nothing makes the output "{value.name}"; export it again.')


def _in_order(graph: ir.Graph) -> bool:
    """Whether each node comes after those that it reads from; not asked where bodies read past their own node."""
    seen: set[ir.Node | None] = {None}
    for node in graph:
        for value in node.inputs:
            if value is not None and value.producer() not in seen:
                return False
        if any(attr.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS) for attr in node.attributes.values()):
            return False
        seen.add(node)
    return True


def _opsets(proto: onnx.ModelProto) -> list[str]:
    """Give the default domain a version where the file has none, the way ONNX Runtime does; say so."""
    for entry in proto.opset_import:
        if entry.domain == "ai.onnx":
            entry.domain = ""
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    newest = onnx.defs.onnx_opset_version()
    if "" in versions:
        if versions[""] > newest:
            return [f"opset {versions['']} is newer than the newest known here, {newest}: rules of {newest} were used"]
        return []
    if not any(node.domain in ("", "ai.onnx") for node in proto.graph.node):
        proto.opset_import.add(domain="", version=newest)
        return []
    version = 1 if proto.ir_version < 3 else newest
    proto.opset_import.add(domain="", version=version)
    return [f"the file does not say which opset it uses: {version} was taken"]


def _first_line(error: BaseException) -> str:
    while error.__cause__ is not None:  # onnx_ir wraps what happened once for each level of the file
        error = error.__cause__
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]

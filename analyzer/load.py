"""File -> Model: weights stay on disk, nodes are sorted, functions are inlined, bad files are refused."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import onnx_ir
import onnx_ir as ir

from neural_cost.analyzer.errors import ModelError, quoted
from neural_cost.analyzer.external_data import locate_external_data
from neural_cost.analyzer.functions import inline_functions
from neural_cost.analyzer.graph_checks import check_graphs, check_opsets
from neural_cost.analyzer.inline_data import link_inline_data
from neural_cost.analyzer.model_file import read_model


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


def load(path: str | os.PathLike[str]) -> Model:
    """Load an ONNX file without its external data.

    Raises:
        ModelError: the file is missing, not a file, not ONNX, has no graph, is cyclic, or points outside its folder.
    """
    file = Path(path)
    proto, data_left = read_model(file)
    notes = check_opsets(proto, file)
    check_graphs(proto, file)
    try:
        model = ir.from_proto(proto)
        if data_left:
            link_inline_data(model, file)
        notes += locate_external_data(model, file)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{file} is not a valid ONNX model ({_first_line(error)}); export it again.") from error
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


def _first_line(error: BaseException) -> str:
    while error.__cause__ is not None:  # onnx_ir wraps what happened once for each level of the file
        error = error.__cause__
    return quoted((str(error).strip().splitlines() or [type(error).__name__])[0], 160)[1:-1]

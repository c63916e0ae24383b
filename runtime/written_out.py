"""A copy of a model whose calls of model-local functions are written out, under the names that the analysis gives.

ONNX Runtime writes them out as well when it loads a model, under names of its own, from which the call that a kernel
came through cannot be told.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import onnx
import onnx_ir as ir

from neural_cost.analyzer.errors import BackendError
from neural_cost.analyzer.functions import inline_functions
from neural_cost.runtime.named_copy import name_nodes
from neural_cost.runtime.session import SessionOptions, open_session


def written_out(file: Path, options: SessionOptions) -> bytes | None:
    """Such a copy of a model, each node with a name of its own.

    Returns:
        None where the model calls no functions, or where the copy would run other kernels than the file: ONNX Runtime
        may have a kernel for a function, or write out one that the analysis does not.
    """
    model = onnx.load(file, load_external_data=False)
    if not model.functions:
        return None
    folder = file.resolve().parent
    before = _kernels(file, options, folder)
    written = ir.from_proto(model)
    inline_functions(written)
    copy = ir.to_proto(written)
    name_nodes(copy)
    found = bytes(copy.SerializeToString())
    return found if before is not None and _kernels(found, options, folder) == before else None


def _kernels(model: Path | bytes, options: SessionOptions, folder: Path) -> Counter[tuple[str, str]] | None:
    """Operators of what runs, bodies among it, and how many there are; None where that cannot be told."""
    with tempfile.TemporaryDirectory() as scratch:
        optimized = Path(scratch) / "optimized.onnx"
        try:
            open_session(model, options, folder=folder if isinstance(model, bytes) else None, optimized=optimized)
            graph = onnx.load(optimized, load_external_data=False).graph
        except (BackendError, OSError):
            return None
    waiting, found = [graph], Counter[tuple[str, str]]()
    while waiting:
        for node in waiting.pop().node:
            found[node.domain, node.op_type] += 1
            waiting += [each.g for each in node.attribute if each.type == onnx.AttributeProto.GRAPH]
    return found

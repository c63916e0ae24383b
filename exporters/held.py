"""Parameters that a model has and its file does not: a user who compares counts must know."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any


def dropped_note(parameters: int, file: Path, why: str) -> tuple[str, ...]:
    """A note where a file holds fewer elements of floating point than its model has parameters."""
    held = sum(int(tensor.size) for tensor in _floats(file))
    if held >= parameters:
        return ()
    return (f"the file holds {held:,} of the model's {parameters:,} parameters: {why}",)


def _floats(file: Path) -> Iterator[Any]:
    import onnx_ir as ir

    for graph in ir.load(file).graphs():
        for value in graph.initializers.values():
            if value.const_value is not None and value.const_value.dtype.is_floating_point():
                yield value.const_value
        for node in graph:
            constant = ir.convenience.get_const_tensor(node.outputs[0]) if node.op_type == "Constant" else None
            if constant is not None and constant.dtype.is_floating_point():
                yield constant

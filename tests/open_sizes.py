"""Models with every input size left open: what the symbolic shapes are at the true sizes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx

from neural_cost.analyzer.dimensions import bind
from neural_cost.analyzer.load import load
from neural_cost.analyzer.shapes import infer


def opened(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, int]]:
    """The model with a symbol for each size of each input, and what these stand for."""
    copy, sizes = onnx.ModelProto.FromString(model.SerializeToString()), {}
    for value in copy.graph.input:
        if value.type.HasField("tensor_type"):
            for dim in value.type.tensor_type.shape.dim:
                name = f"s{len(sizes)}"
                sizes[name] = dim.dim_value
                dim.ClearField("dim_value")
                dim.dim_param = name
    return copy, sizes


def untrue(model: onnx.ModelProto, truth: Mapping[str, tuple[int, ...]], folder: Path) -> list[str]:
    """Outputs whose symbolic shape, where it is known, is not their true shape at the true sizes."""
    copy, sizes = opened(model)
    file = folder / "open.onnx"
    file.write_bytes(copy.SerializeToString())
    loaded = load(file)
    shapes = infer(loaded, bind(loaded, {}, {}), {}).symbols.shapes
    return [
        f"{value.name} is {shapes[value]} with {sizes}, not {truth[value.name]}"
        for value in loaded.ir.graph.outputs
        if shapes.get(value) is not None and value.name in truth and not _holds(shapes[value], truth[value.name], sizes)
    ]


def _holds(dims: Any, truth: tuple[int, ...], sizes: Mapping[str, int]) -> bool:
    pairs = zip(dims, truth, strict=False)
    return len(dims) == len(truth) and all(_at(dim, sizes) in (None, true) for dim, true in pairs)


def _at(dim: Any, sizes: Mapping[str, int]) -> Any:
    """A dimension at the true sizes; None for one that only a run finds."""
    if dim is None or isinstance(dim, int):
        return dim
    names = {symbol: str(symbol) for symbol in dim.free_symbols}
    if not sizes.keys() >= set(names.values()):
        return None
    return dim.subs({symbol: sizes[name] for symbol, name in names.items()})

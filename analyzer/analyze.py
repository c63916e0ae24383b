"""The pipeline: file -> load -> shapes -> walk -> report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from neural_cost.analyzer.dimensions import bind
from neural_cost.analyzer.load import load, paused_gc
from neural_cost.analyzer.parameters import parameters
from neural_cost.analyzer.report import ModelInfo, NodeRecord, Report, cover, total
from neural_cost.analyzer.shapes import infer
from neural_cost.analyzer.walk import walk


def analyze(
    path: str | os.PathLike[str],
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> Report:
    """Cost every node of an ONNX file.

    Raises:
        ModelError: the file cannot be read.
        DimensionError: a dimension that the model lacks, or a size that contradicts the graph.
    """
    with paused_gc():
        model = load(path)
        binding = bind(model, dims or {}, shapes or {})
        inference = infer(model, binding)
        nodes = walk(model, inference)
    info = ModelInfo(
        model.path,
        model.ir.ir_version,
        dict(model.ir.opset_imports),
        model.ir.producer_name or "",
        len(nodes),
        binding.dims,
        binding.assumed,
        inference.false_shapes,
    )
    return Report(info, total(nodes, parameters(nodes)), cover(nodes), [NodeRecord(n) for n in nodes], [], model.notes)

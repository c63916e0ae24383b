"""The pipeline: file -> load -> shapes -> walk -> report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import onnx_ir as ir

from neural_cost.analyzer.arguments import device_of, path_of, sizes_of
from neural_cost.analyzer.assumptions import doubts
from neural_cost.analyzer.bounding import model_bound, node_bound
from neural_cost.analyzer.collector import paused_gc
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.dimensions import Binding, bind
from neural_cost.analyzer.errors import NeuralCostError
from neural_cost.analyzer.formulas import Ends
from neural_cost.analyzer.fusion.work import fused_bytes, fused_works
from neural_cost.analyzer.load import Model, load
from neural_cost.analyzer.memory.reading import activations
from neural_cost.analyzer.memory.record import plain_peak
from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.opened import Opened
from neural_cost.analyzer.parameters import Weight, all_sizes_known, distinct, other_constants, parameters
from neural_cost.analyzer.records import ModelInfo, node_record
from neural_cost.analyzer.report import Causal, Report
from neural_cost.analyzer.shapes import Inference, infer
from neural_cost.analyzer.totals import cover, total
from neural_cost.analyzer.traffic import compulsory_bytes
from neural_cost.analyzer.walk import NodeCost, Walk


@paused_gc()
def analyze(
    path: str | os.PathLike[str],
    dims: Mapping[str, int] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    device: str | Device | None = None,
    *,
    trips: Mapping[str, int] | None = None,
    data_dependent: Literal["unknown", "upper"] = "unknown",
    causal: Causal = "full",
    progress: Callable[[str], object] | None = None,
) -> Report:
    """Cost every node of an ONNX file, and bound its time on a device, where one is given.

    Args:
        path: an .onnx file.
        dims: sizes of open dimensions: by name, by `input:axis`, or by `tensor:axis` for what only a run finds.
        shapes: whole shapes of inputs.
        device: a device, or the name of one.
        trips: how often the body of a Loop runs, by the name of its node, where the graph does not tell.
        data_dependent: "upper" takes the largest that a size can be which only a run finds.
        causal: "half" counts of causal attention the products that its mask leaves, "full" all, as CPU kernels do.
        progress: is told each stage of the work.

    Raises:
        ModelError: the file cannot be read.
        DimensionError: a dimension that the model lacks, or a size that contradicts the graph.
        DeviceError: no device of that name is known.
    """
    _check_options(causal, data_dependent)
    path, on = path_of(path), device_of(device)
    dims, shapes, trips = (sizes_of(*each) for each in (("dims", dims), ("shapes", shapes), ("trips", trips)))
    tell = progress or (lambda stage: None)
    tell(f"reading {os.fspath(path)}")
    model = load(path)
    binding = bind(model, dims, shapes)
    tell(f"shapes of {len(model.ir.graph):,} nodes")
    inference = infer(model, binding, trips, upper=data_dependent == "upper")
    binding = inference.binding
    tell(f"costs of {len(model.ir.graph):,} nodes")
    walk = Walk(inference, causal_half=causal == "half")
    nodes = walk.model()
    weights = parameters(nodes)
    ends = _ends(model, binding, walk, weights, other_constants(nodes, weights))
    alive = activations(walk.views)
    moved, all_known = compulsory_bytes(nodes, ends.sources, ends.outputs)

    def again(sizes: Mapping[str, int]) -> Report:
        return analyze(path, {**dims, **sizes}, shapes, on, trips=trips, data_dependent=data_dependent, causal=causal)

    records = [node_record(node, weights, node_bound(node, on), bounded=on is not None) for node in nodes]
    opened = Opened(inference, walk, nodes, ends, alive, again, on)
    groups = fused_works(records, opened.returned)
    totals = total(nodes, ends.weights, moved if all_known else None, plain_peak(alive), all_sizes_known(nodes))
    return Report(
        _describe(model, binding, inference, nodes),
        replace(totals, fused_bytes=fused_bytes(groups, totals.compulsory_bytes, totals.per_op_bytes)),
        cover(nodes),
        records,
        [] if on is None else [model_bound(nodes, moved, on, groups)],
        model.notes + doubts(binding.assumed, binding.open_names, binding.dims, nodes) + walk.notes,
        causal,
        opened,
    )


def _check_options(causal: str, data_dependent: str) -> None:
    for name, value, known in (
        ("causal", causal, ("full", "half")),
        ("data_dependent", data_dependent, ("unknown", "upper")),
    ):
        if value not in known:
            raise NeuralCostError(f"{name} cannot be {value!r}: it is {' or '.join(map(repr, known))}.")


def _ends(
    model: Model, binding: Binding, walk: Walk, weights: Mapping[str, Weight], others: Mapping[str, Tensor]
) -> Ends:
    inputs = _views(walk, (value for value in model.ir.graph.inputs if value.name in binding.inputs))
    stored = {name: weight.stored for name, weight in weights.items()} | dict(others)
    sources = stored | {tensor.name: tensor for tensor in inputs}
    return Ends(distinct(weights.values()), inputs, sources, _views(walk, dict.fromkeys(model.ir.graph.outputs)))


def _describe(model: Model, binding: Binding, inference: Inference, nodes: Sequence[NodeCost]) -> ModelInfo:
    return ModelInfo(
        model.path,
        model.ir.ir_version,
        dict(model.ir.opset_imports),
        model.ir.producer_name or "",
        len(nodes),
        binding.dims | inference.engine.found,
        binding.assumed + [name for name in inference.engine.found if name not in binding.found],
        inference.false_shapes,
    )


def _views(walk: Walk, values: Iterable[ir.Value]) -> list[Tensor]:
    return [tensor for value in values if (tensor := walk.views.tensor(value)) is not None]

"""Models, the graphs that ONNX Runtime makes of them, and the values of their tensors in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import neural_cost
from neural_cost.runtime.feeds import make_feeds
from neural_cost.runtime.mapping.claim import Claim
from neural_cost.runtime.mapping.claimed import claimed
from neural_cost.runtime.session import SessionOptions, open_session


@dataclass(frozen=True, eq=False)
class Mapped:
    """A report, the file of the graph that runs, and what its kernels claim."""

    report: neural_cost.Report
    optimized: Path
    claims: list[Claim]

    def nodes(self, claim: Claim) -> list[str]:
        return [self.report.nodes[place].name for place in claim.places]

    def operators(self, claim: Claim) -> list[str]:
        return [self.report.nodes[place].op_type for place in claim.places]

    def macs(self) -> int:
        """MACs of all claims; a node that two kernels claim counts twice."""
        places = [place for claim in self.claims if not claim.joined for place in claim.places]
        nodes = [self.report.nodes[place] for place in places]
        return sum((node.macs or 0) * (node.repeats or 0) for node in nodes)


def mapped(file: Path, folder: Path, level: str = "all", dims: Mapping[str, int] | None = None) -> Mapped:
    """Analyze a model, have ONNX Runtime rewrite it, and map the two."""
    report = neural_cost.analyze(file, dims)
    optimized = folder / "optimized.onnx"
    open_session(file, SessionOptions(level=level), optimized=optimized)
    graph = onnx.load(optimized, load_external_data=False).graph
    return Mapped(report, optimized, claimed(report, graph, file))


def values(file: Path, report: neural_cost.Report) -> dict[str, Any]:
    """Every float tensor of the main graph in a run."""
    import onnxruntime

    model = onnx.load(file)
    del model.graph.value_info[:]
    feeds = make_feeds(report)
    asked = [value for value in model.graph.input if value.name in feeds]
    del model.graph.input[:]
    model.graph.input.extend(asked)
    have = {value.name for value in model.graph.output}
    for node in model.graph.node:
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output if name and name not in have)
        have |= set(node.output)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(names, feeds), strict=True))
    return {name: array for name, array in found.items() if isinstance(array, np.ndarray) and array.dtype.kind == "f"}


def same_elements(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two tensors hold the same elements, wherever they lie, and zeros that fill up blocks of channels."""
    first, second = (np.sort(array[array != 0].ravel().astype(np.float64)) for array in (one, other))
    if abs(first.size - second.size) > 0.001 * max(first.size, second.size, 1000):
        return False
    moments = [(a.sum(), (a**2).sum(), np.abs(a).max(initial=0)) for a in (first, second)]
    return np.allclose(*moments, rtol=1e-3, atol=1e-3)

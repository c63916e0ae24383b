"""A small model, a device whose figures are round, and kernels of a run that never was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx
import onnx.parser

import neural_cost
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.kernel_work import kernel_work, needed_outside
from neural_cost.analyzer.measurement import Kernel

NS = 1e-9
# 1 FLOP/ns and 1 byte/ns
ROUND = {"name": "round", "kind": "measured", "vendor": "", "type": "cpu"}
DEVICE = Device(**ROUND, peaks={"float32": 1e9}, bandwidth_curve=((0, 1e9),))

# 4x8 by 8x16, rectified: 2 x 512 + 64 FLOPs; x has 128 bytes, w 512, m and y 256 each
PRODUCT = """g (float[4, 8] x, float[8, 16] w) => (float[4, 16] y) {
    m = MatMul(x, w)  y = Relu(m) }"""


@dataclass(frozen=True)
class Timed:
    """How long a run took, in ns."""

    median: float
    min: float

    @property
    def median_s(self):
        return self.median * NS

    @property
    def min_s(self):
        return self.min * NS


def analyzed(text, folder, device=DEVICE, opset=17, **options):
    file = folder / "model.onnx"
    head = text if text.startswith("<") else f'<ir_version: 8, opset_import: ["": {opset}]>\n{text}'
    onnx.save(onnx.parser.parse_model(head), file)
    return neural_cost.analyze(file, device=device, **options)


def kernel(report, places: Sequence[int], ns: float, op_type: str = "", **changed) -> Kernel:
    """A kernel that does these nodes; without any it is inserted."""
    readers = needed_outside(report.nodes, report.opened.returned)
    nodes = [report.nodes[place] for place in places]
    needed = {t.name for node in nodes for t in node.outputs if not readers.get(t.name, set()) <= set(places)}
    names = {node.op_type for node in nodes}
    fields = {
        "name": f"{op_type or '+'.join(sorted(names)) or 'Reorder'} {list(places)}",
        "op_type": op_type or (nodes[0].op_type if nodes else "ReorderOutput"),
        "domain": "",
        "graph": "main",
        "provider": "CPUExecutionProvider",
        "seconds": ns * NS,
        "executions": max((node.repeats or 1 for node in nodes), default=1),
        "source_nodes": tuple(places),
        "repeated": (),
        "joined": False,
        "inserted": not places,
        "macs": sum(node.macs or 0 for node in nodes),
        "work": kernel_work(nodes, needed) if nodes else None,
        "bound_s": None,
    }
    return Kernel(**{**fields, **changed})

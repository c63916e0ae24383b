"""Small models, a device with round figures, and what can be read off a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
import onnx.parser

import neural_cost
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.measurement import Kernel
from neural_cost.analyzer.roofline import Work
from neural_cost.render.plots.labels import Box

PEAK, BANDWIDTH = 1e12, 1e11
SHEET = Device(
    name="Round", kind="datasheet", vendor="", type="cpu", peaks={"float32": PEAK}, bandwidth_curve=((0, BANDWIDTH),)
)

MATMUL = "g (float[64, 32] x, float[32, 16] w) => (float[64, 16] y) { y = MatMul(x, w) }"
MATMUL_FLOPS = 2 * 64 * 32 * 16
MATMUL_BYTES = 4 * (64 * 32 + 32 * 16 + 64 * 16)

# One node for each fate: a point, one that only moves, a view, an unknown operator, one that runs at load time
FATES = """
g (float[8, 8] x) => (float[8, 8] y, float[4, 16] v, float[8, 8] u, float[8, 8] t) <float[8, 8] c> {
    y = Add(x, c)
    t = Transpose(x)
    shape = Constant<value = int64[2] {4, 16}>()
    v = Reshape(x, shape)
    u = acme.Mystery(x)
    zero = Constant<value = float {0.0}>()
    c = Expand(zero, size)
    size = Constant<value = int64[2] {8, 8}>()
}"""


ENDLESS = """g (float[4] x, bool b, int64 n) => (float[4] y, float[4] z) {
    y = Neg(x)
    z = Loop(n, b, x) <body = l (int64 i, bool c, float[4] p) => (bool k, float[4] q) { k = Identity(c)  q = Abs(p) }>
}"""


def report_of(text: str, folder: Path, device: Device | None = SHEET, name: str = "") -> neural_cost.Report:
    file = folder / "model.onnx"
    header = '<ir_version: 10, opset_import: ["": 20, "acme": 1]>\n'
    model = onnx.parser.parse_model(header + text)
    model.graph.node[0].name = name
    onnx.save(model, file)
    return neural_cost.analyze(file, device=device)


def kernel(seconds: float, **named: Any) -> Kernel:
    """A kernel that did the MatMul, unless something else is said."""
    given = {
        "name": "k", "op_type": "MatMul", "domain": "", "graph": "main", "provider": "CPU", "executions": 1,
        "source_nodes": (0,), "repeated": (), "joined": False, "inserted": False, "macs": MATMUL_FLOPS // 2,
        "work": Work({"float32": MATMUL_FLOPS}, MATMUL_BYTES), "bound_s": MATMUL_BYTES / BANDWIDTH,
    }  # fmt: skip
    return Kernel(seconds=seconds, **{**given, **named})


def offsets(axes: Any) -> list[tuple[float, float]]:
    """Data coordinates of all points of a scatter."""
    return [(float(x), float(y)) for group in axes.collections for x, y in group.get_offsets()]


def labels(figure: Any) -> list[tuple[Any, Any]]:
    """Axes and text of each label of a point."""
    return [(axes, text) for axes in figure.axes for text in axes.texts if "of the time" in text.get_text()]


def box(artist: Any) -> Box:
    """Its room in pixels; of a text without the line that leads to it."""
    from matplotlib.text import Text

    extent = artist.get_window_extent()  # which also brings an annotation into its place
    return Box(*(Text.get_window_extent(artist) if isinstance(artist, Text) else extent).extents)


def overlapping(boxes: Sequence[Box]) -> list[tuple[int, int]]:
    return [(k, j) for k in range(len(boxes)) for j in range(k) if boxes[k].overlaps(boxes[j])]

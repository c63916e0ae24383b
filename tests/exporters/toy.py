"""A framework of one model, y = x @ w, and its exporter: one class, as CONTRIBUTING shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser

from neural_cost.exporters.protocol import Array, Draft, Request

WEIGHT = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


class Linear:
    """A model of the framework.

    Attributes:
        written: the weight that the exporter writes in place of the model's own.
        text: the graph that it writes in place of the right one.
        fixed: batches at which alone the model itself runs.
    """

    def __init__(
        self, written: Array = WEIGHT, text: str | None = None, fixed: tuple[int, ...] = (), type_: str = "float"
    ) -> None:
        self.written, self.fixed, self.type = written, fixed, type_
        self.text = text or f"g ({type_}[batch, 3] x, {type_}[3, 2] w) => ({type_}[batch, 2] y) {{ y = MatMul(x, w) }}"

    def __call__(self, x: Array) -> Array:
        if self.fixed and x.shape[0] not in self.fixed:
            raise ValueError(f"only {self.fixed} rows")
        return np.asarray(x @ WEIGHT.astype(x.dtype))


class ToyExporter:
    name = "toy"

    def recognises(self, model: object, example_inputs: object) -> bool:
        return isinstance(model, Linear)

    def reads(self, file: Path) -> bool:
        return file.suffix == ".toy"

    def load(self, file: Path) -> tuple[object, object]:
        return Linear(), np.arange(6, dtype=np.float32).reshape(2, 3)

    def content(self, model: Any, example_inputs: Any) -> bytes | None:
        return model.written.tobytes() + model.text.encode()

    def export(self, model: Any, example_inputs: Any, file: Path, request: Request) -> Draft:
        proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 20]> {model.text}')
        kept = [value for value in proto.graph.input if value.name != "w"]
        del proto.graph.input[:]
        proto.graph.input.extend(kept)
        dtype = np.float16 if model.type == "float16" else np.float32
        proto.graph.initializer.append(onnx.numpy_helper.from_array(model.written.astype(dtype), "w"))
        dims = {"x": {0: "batch"}} if request.dynamic_dims != {} else {}
        if not dims:
            for value in (*proto.graph.input, *proto.graph.output):
                value.type.tensor_type.shape.dim[0].dim_value = example_inputs.shape[0]
        onnx.save(proto, file)

        def native(feeds: Mapping[str, Array]) -> list[Array]:
            return [model(feeds["x"])]

        return Draft("toy", {"toy": "1.0"}, {"x": example_inputs}, dims, native)

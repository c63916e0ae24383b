"""Quantize an ONNX file to int8, as `faster-type` advises: python examples/quantize.py IN.onnx OUT.onnx

Activations become uint8 and weights int8, a scale for each channel. Ranges come from a few inputs: random ones here, of
your data where accuracy matters. What it prints is how far the results are from those of the float model on an input
that it has not seen.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.version_converter
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

SAMPLES = 8
OPSET = 17  # scales for each channel need 13


def made_up(session: onnxruntime.InferenceSession, seed: int) -> dict[str, Any]:
    """Random float32 inputs; an open dimension is 1."""
    rng = np.random.default_rng(seed)
    shapes = {each.name: [size if isinstance(size, int) else 1 for size in each.shape] for each in session.get_inputs()}
    return {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}


class Samples(CalibrationDataReader):
    """Inputs that the ranges of tensors are taken from."""

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self.inputs: Iterator[dict[str, Any]] = (made_up(session, seed) for seed in range(SAMPLES))

    def get_next(self) -> dict[str, Any] | None:
        """The next one; None after the last."""
        return next(self.inputs, None)


def main(source: Path, target: Path) -> None:
    """Quantize, and compare the results."""
    original = onnxruntime.InferenceSession(str(source))
    with tempfile.TemporaryDirectory() as folder:
        newer, prepared = Path(folder) / "newer.onnx", Path(folder) / "prepared.onnx"
        onnx.save(onnx.version_converter.convert_version(onnx.load(source), max(OPSET, opset_of(source))), newer)
        quant_pre_process(str(newer), str(prepared), skip_symbolic_shape=True)
        types = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}
        quantize_static(str(prepared), str(target), Samples(original), per_channel=True, **types)
    feeds = made_up(original, SAMPLES)
    before, after = original.run(None, feeds)[0], onnxruntime.InferenceSession(str(target)).run(None, feeds)[0]
    print(
        f"{target}: largest difference {np.abs(after - before).max():.3g}, of results up to {np.abs(before).max():.3g}"
    )


def opset_of(file: Path) -> int:
    """The version of ONNX's own operators that a file uses."""
    imports = onnx.load(file, load_external_data=False).opset_import
    return next(each.version for each in imports if each.domain in {"", "ai.onnx"})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))

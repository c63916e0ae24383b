"""Variants of a model that compute the same: quantized, in float16, optimized and fused, functions written out.

Each maker takes a source and returns the model that it makes of it, by the tools that users have.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import onnx

from tests.transformer_models import HEADS, WIDTH, quiet


@dataclass(frozen=True, eq=False)
class Source:
    """A model: its file, data that it runs on, and what its open dimensions are then."""

    name: str
    file: Path
    feeds: Mapping[str, np.ndarray] = field(repr=False)
    dims: Mapping[str, int]


Maker = Callable[[Source, Path], None]


def made(source: Source, steps: str, folder: Path) -> Source:
    """Apply makers, named and separated by commas, one after the other.

    They work on a copy: the quantizer writes a file of its own beside the model that it is given.
    """
    copies = folder / "copied"
    copies.mkdir()
    source = replace(source, file=Path(shutil.copy2(source.file, copies)))
    for step in steps.split(", "):
        target = folder / f"{source.name}_{step}.onnx"
        with quiet():
            MAKERS[step](source, target)
        source = replace(source, name=target.stem, file=target)
    return source


def _static(form: str, **options: object) -> Maker:
    def make(source: Source, target: Path) -> None:
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

        class Reader(CalibrationDataReader):
            def __init__(self) -> None:
                self.batches: Iterator[Mapping[str, np.ndarray]] = iter([source.feeds])

            def get_next(self) -> Mapping[str, np.ndarray] | None:
                return next(self.batches, None)

        quantize_static(source.file, target, Reader(), quant_format=QuantFormat[form], **options)

    return make


def _dynamic(source: Source, target: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic

    # the type to take for what the quantizer cannot infer: outputs of fused operators
    quantize_dynamic(source.file, target, extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT})


def _weight_only(form: str) -> Maker:
    def make(source: Source, target: Path) -> None:
        from onnxruntime.quantization import QuantFormat
        from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

        config = DefaultWeightOnlyQuantConfig(block_size=32, is_symmetric=True, quant_format=QuantFormat[form])
        quantizer = MatMulNBitsQuantizer(onnx.load(source.file), algo_config=config)
        quantizer.process()
        quantizer.model.save_model_to_file(str(target))

    return make


def _float16(source: Source, target: Path) -> None:
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(source.file)), target)


def _optimized(level: str) -> Maker:
    def make(source: Source, target: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
        options.optimized_model_filepath = str(target)
        options.log_severity_level = 3
        onnxruntime.InferenceSession(str(source.file), options, providers=["CPUExecutionProvider"])

    return make


def _fused(model_type: str) -> Maker:
    def make(source: Source, target: Path) -> None:
        from onnxruntime.transformers.optimizer import optimize_model

        model = optimize_model(str(source.file), model_type, num_heads=HEADS, hidden_size=WIDTH, opt_level=1)
        model.save_model_to_file(str(target))

    return make


def _fused_float16(source: Source, target: Path) -> None:
    from onnxruntime.transformers.onnx_model import OnnxModel

    model = OnnxModel(onnx.load(source.file))
    model.convert_float_to_float16()
    model.save_model_to_file(str(target))


MAKERS: dict[str, Maker] = {
    "qdq": _static("QDQ"),
    "qdq per channel": _static("QDQ", per_channel=True),
    "qoperator": _static("QOperator"),
    "dynamic": _dynamic,
    "int4": _weight_only("QOperator"),
    "int4 qdq": _weight_only("QDQ"),
    "float16": _float16,
    "basic": _optimized("BASIC"),
    "extended": _optimized("EXTENDED"),
    "all": _optimized("ALL"),
    "fused as bert": _fused("bert"),
    "fused as gpt2": _fused("gpt2"),
    "fused float16": _fused_float16,
}

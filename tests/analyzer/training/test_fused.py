"""What ONNX Runtime fuses trains as what it was made of: the same MACs back, and the same bytes kept."""

from __future__ import annotations

from pathlib import Path

import pytest

import neural_cost

onnxruntime = pytest.importorskip("onnxruntime")

MODELS = Path(__file__).parents[3] / "models"
LEVELS = ["ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"]
FUSED = {
    "cnn": {"ORT_ENABLE_EXTENDED": "FusedConv", "ORT_ENABLE_ALL": "Conv"},
    "dnn": dict.fromkeys(LEVELS, "FusedGemm"),
    "transformer": dict.fromkeys(LEVELS, "SkipLayerNormalization"),
}


def optimized(path: Path, level: str, made: Path) -> Path:
    """The model as ONNX Runtime writes it after its optimizations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.optimized_model_filepath, options.log_severity_level = str(made), 3
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return made


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", FUSED)
def test_as_what_it_was_made_of(name, level, tmp_path):
    plain = neural_cost.analyze(MODELS / f"{name}.onnx", dims={"batch": 3}).training()
    report = neural_cost.analyze(optimized(MODELS / f"{name}.onnx", level, tmp_path / "fused.onnx"), dims={"batch": 3})
    assert any(node.domain and node.op_type == FUSED[name][level] for node in report.nodes)
    fused = report.training()
    assert fused.complete
    assert fused.backward_macs == plain.backward_macs
    assert fused.saved_bytes == plain.saved_bytes

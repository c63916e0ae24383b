"""Mapping on what exporters and quantizers write: five families in three frameworks, transformers, quantized models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import neural_cost
from neural_cost.models import path
from neural_cost.targets import onnx_file
from tests.runtime.mapping.executed_models import mapped
from tests.runtime.mapping.test_claims import LIGHT, check
from tests.transformer_models import MODELS, export
from tests.variants import Source, made

FAMILIES = ("dnn", "cnn", "rnn", "lstm", "gru", "bilstm", "transformer")
QUANTIZED = ("qdq", "qdq per channel", "qoperator", "dynamic", "int4", "int4 qdq", "float16")


@pytest.mark.long
@pytest.mark.parametrize("framework", ["torch", "keras", "jax"])
@pytest.mark.parametrize("name", FAMILIES)
def test_families_of_three_frameworks(name, framework, tmp_path):
    check(mapped(onnx_file(f"zoo:{name}@{framework}"), tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_transformers(name, tmp_path):
    check(mapped(export(name, tmp_path).file, tmp_path))


def source(file: Path) -> Source:
    report = neural_cost.analyze(file)
    (tensor,) = report.opened.ends.inputs
    feed = np.random.default_rng(0).random(tensor.shape).astype(np.float32)
    return Source(file.stem, file, {tensor.name: feed}, {})


@pytest.mark.parametrize("variant", QUANTIZED)
@pytest.mark.parametrize("name", ["cnn", "transformer"])
def test_quantized_families(name, variant, tmp_path):
    found = mapped(made(source(path(name)), variant, tmp_path).file, tmp_path)
    assert found.macs() == found.report.totals.macs > 0
    products = [sum(bool(found.report.nodes[p].macs) for p in claim.places) for claim in found.claims]
    assert max(products) == 1


@pytest.mark.long
@pytest.mark.parametrize("variant", ["qdq", "qoperator", "dynamic"])
def test_quantized_resnet(variant, tmp_path):
    check(mapped(made(source(LIGHT / "light_resnet50.onnx"), variant, tmp_path).file, tmp_path))

"""Mends of onnx_shape_inference: each is needed, until upstream has it."""

import subprocess
import sys

import pytest

from neural_cost.analyzer.shape_mends import FLOAT_PER_ELEMENT


@pytest.mark.parametrize("op_type", FLOAT_PER_ELEMENT)
def test_upstream_still_lacks_it(op_type):
    code = f"from onnx_shape_inference import registry as r; r.collect(); print(r.has('ai.onnx.ml', '{op_type}'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False", "mended upstream: drop the mend"

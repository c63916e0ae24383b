"""Kernels that come out of model-local functions are mapped to the nodes of the call that they came through."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest

import neural_cost
from neural_cost.runtime.session import LEVELS, SessionOptions
from neural_cost.runtime.written_out import written_out
from tests.analyzer.test_functions import NESTED
from tests.transformer_models import quiet

QUICK = {"budget_s": 0.0, "threads": 1}
# ONNX Runtime has a kernel of its own for this function, and does not run its body
NATIVE = """<ir_version: 10, opset_import: ["": 20, "com.microsoft": 1]>
g (float[2, 3] x) => (float[2, 3] y) <float[3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}> {
    a = MatMul(x, w)  b = com.microsoft.Gelu(a)  y = MatMul(b, w) }
<domain: "com.microsoft", opset_import: ["": 20]>
Gelu (x) => (y) { h = Constant <value = float {0.5}> ()  p = Mul(x, h)  e = Erf(x)  y = Mul(p, e) }
"""
IN_A_LOOP = """<ir_version: 10, opset_import: ["": 20, "my": 1]>
g (float[2, 2] x) => (float[2, 2] y) <int64 n = {3}, bool go = {1}, float[2, 2] w = {1, 0, 0, 1}> {
    y = Loop (n, go, x) <body = b (int64 i, bool c, float[2, 2] s) => (bool more, float[2, 2] t) {
        more = Identity(c)  t = my.step(s, w) }> }
<domain: "my", opset_import: ["": 20]>
step (s, w) => (t) { p = MatMul(s, w)  t = Relu(p) }
"""


def written(text: str, folder: Path) -> Path:
    file = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), file)
    return file


def nodes_of(found: neural_cost.Profile) -> list[tuple[str, list[str]]]:
    """Kernels with the operators of their nodes."""
    return [(each.op_type, [found.report.nodes[p].op_type for p in each.source_nodes]) for each in found.kernels]


@pytest.mark.parametrize("level", LEVELS)
def test_functions_that_call_functions(level, tmp_path):
    """Two calls of a block, a MatMul and an Add in another function; and a call of that alone."""
    found = neural_cost.profile(written(NESTED, tmp_path), level=level, **QUICK)
    assert found.mapping.to_dict() == {"time_share": 1.0, "inserted_share": 0.0, "unmapped_share": 0.0,
                                       "attributed_share": 1.0,
                                       "mac_share": 1.0}  # fmt: skip
    assert nodes_of(found) == [(op, [op]) for op in ("MatMul", "Add", "MatMul", "Add", "Add")]
    calls = [[call.node for call in found.report.nodes[each.source_nodes[0]].calls] for each in found.kernels]
    assert calls == [["first"], ["first", "inner"], ["second"], ["second", "inner"], ["twice_2"]]
    assert sum(each.macs for each in found.kernels) == 2 * (2 * 3 * 3)


def test_a_function_that_the_runtime_has_a_kernel_for(tmp_path):
    """Its kernel is measured, not its body, and has the nodes of the body."""
    file = written(NATIVE, tmp_path)
    assert written_out(file, SessionOptions()) is None
    found = neural_cost.profile(file, **QUICK)
    assert nodes_of(found) == [("MatMul", ["MatMul"]), ("Gelu", ["Mul", "Erf", "Mul"]), ("MatMul", ["MatMul"])]
    assert found.mapping.unmapped_share == 0.0


def test_a_function_in_a_loop(tmp_path):
    found = neural_cost.profile(written(IN_A_LOOP, tmp_path), **QUICK)
    (product,) = [each for each in found.kernels if each.op_type == "MatMul"]
    assert (product.executions, product.macs) == (3, 3 * 2 * 2 * 2)
    assert found.mapping.unmapped_share == 0.0
    assert found.mapping.mac_share == 1.0


def test_modules_of_torch_as_functions(tmp_path):
    """PyTorch's older exporter keeps modules as functions: convolutions in them are fused as anywhere else."""
    import torch

    def block(into: int, out: int) -> torch.nn.Module:
        return torch.nn.Sequential(torch.nn.Conv2d(into, out, 3, padding=1), torch.nn.ReLU())

    model = torch.nn.Sequential(block(3, 16), block(16, 16), block(16, 32)).eval()
    file = tmp_path / "model.onnx"
    with quiet():
        torch.onnx.export(
            model,
            (torch.zeros(1, 3, 8, 8),),
            file,
            dynamo=False,
            opset_version=17,
            export_modules_as_functions={torch.nn.Sequential, torch.nn.Conv2d},
        )
    assert len(onnx.load(file).functions) >= 3
    found = neural_cost.profile(file, **QUICK)
    assert found.mapping.unmapped_share == 0.0
    assert sum(each.macs for each in found.kernels) == 8 * 8 * 9 * (3 * 16 + 16 * 16 + 16 * 32)
    assert [ops for op, ops in nodes_of(found) if "Conv" in op] == [["Conv", "Relu"]] * 3


def test_a_model_without_functions_is_run_as_it_is(tmp_path):
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Sin(x) }'
    assert written_out(written(text, tmp_path), SessionOptions()) is None


def test_weights_beside_the_file(tmp_path):
    """The copy finds them where they lie."""
    model = onnx.parser.parse_model(NESTED)
    (weight,) = model.graph.initializer  # as text gives it, it cannot be put outside
    weight.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weight), weight.name))
    onnx.save(model, tmp_path / "model.onnx", save_as_external_data=True, size_threshold=0, location="weights")
    assert (tmp_path / "weights").stat().st_size == 9 * 4
    found = neural_cost.profile(tmp_path / "model.onnx", **QUICK)
    assert found.mapping.mac_share == 1.0

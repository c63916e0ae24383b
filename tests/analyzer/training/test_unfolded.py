"""Weights that are made of other weights: training makes them in every pass, and trains what they are made of."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import pytest

import neural_cost
from tests.analyzer.training.torch_runs import backward_macs, saved_bytes

HEAD = '<ir_version: 10, opset_import: ["": 20]>'
N = 5
ADAPTER = f"""{HEAD} g (float[n, 4] x) => (float[n, 4] y) <float[4, 4] w, float[4, 2] a, float[2, 4] b> {{
    d = MatMul(a, b)  s = Add(w, d)  y = MatMul(x, s) }}"""
MADE, READ = 4 * 4 * 2, N * 4 * 4  # MACs of the adapter's product, and of the product with x


@pytest.fixture
def analyzed(tmp_path):
    def analyzed(text, **dims):
        model = onnx.parser.parse_model(text)
        made = {name for node in model.graph.node for name in node.output}
        for info in [info for info in model.graph.value_info if info.name not in made]:
            dtype = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
            shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(shape, dtype), info.name))
        onnx.save(model, tmp_path / "model.onnx")
        return neural_cost.analyze(tmp_path / "model.onnx", dims=dims)

    return analyzed


def test_an_adapter_runs_in_each_pass(analyzed):
    report = analyzed(ADAPTER, n=N)
    assert (report.totals.macs, report.totals.parameters) == (READ, 16)  # inference adds it once, at load time
    found = report.training(optimizer="momentum")
    assert found.complete
    assert found.forward_macs == MADE + READ
    assert found.forward_flops == 2 * (MADE + READ) + 16
    assert (found.weight_macs, found.input_macs) == (2 * MADE, READ)  # of a and b; of their sum with w
    assert found.saved_bytes == 4 * N * 4  # x
    assert found.parameters == 16 + 8 + 8
    assert found.gradient_bytes == found.optimizer_bytes == found.weight_bytes == 4 * 32
    assert [node.op_type for node in found.nodes] == ["MatMul", "Add", "MatMul"]
    assert "2 nodes make weights of weights" in " ".join(found.notes)
    assert found.backward_macs == report.training(freeze=["w"]).backward_macs


def test_a_frozen_adapter_runs_forward_alone(analyzed):
    found = analyzed(ADAPTER, n=N).training(freeze=["[ab]"])
    assert (found.forward_macs, found.backward_macs) == (MADE + READ, READ)
    assert (found.parameters, found.frozen_parameters) == (16, 16)


def test_it_has_formulas(analyzed):
    report = analyzed(ADAPTER)
    backward = report.training().formulas["backward_macs"]
    assert [backward({"n": n}) for n in (1, N)] == [2 * MADE + 16, 2 * MADE + READ]


def test_what_is_made_and_kept_counts(analyzed):
    """The sum is kept for the gradient of h, the root of the first weight for its own slope."""
    text = f"""{HEAD} g (float[{N}, 4] x) => (float[{N}, 4] y) <float[4, 4] v, float[4, 4] w> {{
        h = MatMul(x, v)  r = Sqrt(w)  y = MatMul(h, r) }}"""
    found = analyzed(text).training()
    assert found.saved_bytes == 4 * (N * 4 + N * 4 + 16)  # x, h and r: w itself is a weight
    assert found.backward_flops == 2 * 3 * READ + 2 * 16


# What only lays weights out anew, converts them as they are stored, or makes no use of a weight, is as for inference.
SAME = {
    "turned": "<float[4, 4] w> { s = Transpose(w)  y = MatMul(x, s) }",
    "gates in another order": "<float[4, 4] w, int64[1] a = {0}, int64[1] b = {1}, int64[1] c = {4}, int64[1] d = {1}>"
    "{ p = Slice(w, a, b, d)  q = Slice(w, b, c, d)  s = Concat <axis = 1> (q, p)  y = MatMul(x, s) }",
    "converted": "<float16[4, 4] w> { s = Cast <to = 1> (w)  y = MatMul(x, s) }",
}


PART = {
    "columns": "<float[4, 6] w, int64[1] a = {0}, int64[1] b = {4}, int64[1] axis = {1}> "
    "{ s = Slice(w, a, b, axis)  y = MatMul(x, s) }",
    "turned": "<float[6, 4] w, int64[1] a = {0}, int64[1] b = {4}, int64[1] axis = {1}> "
    "{ t = Transpose <perm = [1, 0]> (w)  s = Slice(t, a, b, axis)  y = MatMul(x, s) }",
    "of a sequence": "<float[4, 6] w, int64[2] sizes = {4, 2}, int64 first = {0}, float[4, 4] s> "
    "{ q = SplitToSequence <axis = 1> (w, sizes)  s = SequenceAt(q, first)  y = MatMul(x, s) }",
    "rows": "<float[6, 4] w, int64[4] rows = {0, 1, 3, 5}> { s = Gather <axis = 0> (w, rows)  y = MatMul(x, s) }",
}


@pytest.mark.parametrize("name", PART)
def test_a_part_of_a_weight_trains_all_of_it(name, analyzed):
    """As a framework keeps gradient and state: those of the parameter. A slice of a weight is no activation."""
    found = analyzed(f"{HEAD} g (float[{N}, 4] x) => (float[{N}, 4] y) {PART[name]}").training(optimizer="momentum")
    assert (found.forward_macs, found.backward_macs, found.parameters) == (READ, READ, 24)
    assert found.gradient_bytes == found.optimizer_bytes == 4 * 24
    assert found.saved_bytes == 4 * N * 4


@pytest.mark.parametrize("split", [
    "a, b = Split <axis = 1, num_outputs = 2> (w)",
    "s = SplitToSequence <axis = 1> (w, sizes)  a = SequenceAt(s, none)  b = SequenceAt(s, one)",
])  # fmt: skip
def test_parts_that_are_all_read_are_one_parameter(split, analyzed):
    """Queries and keys of one weight: Adam counts the steps of one, Adafactor has rows and columns of one."""
    text = f"""{HEAD} g (float[{N}, 4] x) => (float[{N}, 3] y)
        <float[4, 6] w, int64 none = {{0}}, int64 one = {{1}}, int64[2] sizes = {{3, 3}},
        float[4, 3] a, float[4, 3] b> {{
        {split}
        p = MatMul(x, a)  q = MatMul(x, b)  y = Add(p, q) }}"""
    report = analyzed(text)
    found = report.training(optimizer="adamw")
    assert (found.parameters, found.backward_macs, found.forward_macs) == (24, N * 24, N * 24)
    assert found.optimizer_bytes == 2 * 4 * 24 + 4
    assert report.training(optimizer="adafactor").optimizer_bytes == 4 * (4 + 6) + 4
    assert report.training(freeze=["w"]).frozen_parameters == 24


def test_a_slice_of_a_weight_is_no_activation(analyzed):
    """Its gradient passes on to what x was made of, so it is kept; it lies in the weight."""
    text = f"""{HEAD} g (float[{N}, 4] x) => (float[{N}, 4] y)
        <float[4, 4] v, float[4, 6] w, int64[1] a = {{0}}, int64[1] b = {{4}}, int64[1] axis = {{1}}> {{
        h = MatMul(x, v)  s = Slice(w, a, b, axis)  y = MatMul(h, s) }}"""
    assert analyzed(text).training().saved_bytes == 4 * (N * 4 + N * 4)


@pytest.mark.parametrize("name", SAME)
def test_what_is_laid_out_anew_is_not_unfolded(name, analyzed):
    found = analyzed(f"{HEAD} g (float[{N}, 4] x) => (float[{N}, 4] y) {SAME[name]}").training()
    assert (found.forward_macs, found.backward_macs, found.parameters) == (READ, READ, 16)
    assert not any("weights of weights" in note for note in found.notes)


def test_a_product_with_zeros_trains_the_weight_alone(analyzed):
    """An unrolled recurrent layer starts from zeros, which the exporter makes of one."""
    text = f"""{HEAD} g (float[{N}, 4] x) => (float[{N}, 4] y) <float[4, 4] w, int64[2] sizes = {{{N}, 4}}> {{
        zero = Constant <value = float {{0.0}}> ()  h = Expand(zero, sizes)  p = MatMul(h, w)  y = Add(x, p) }}"""
    found = analyzed(text).training()
    assert (found.parameters, found.weight_macs, found.input_macs) == (16, READ, 0)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")
def test_as_torch_counts_and_keeps(tmp_path):
    torch = pytest.importorskip("torch")

    class Learned(torch.nn.Module):
        """A learned query that is projected, and a weight with an adapter."""

        def __init__(self):
            super().__init__()
            self.query, self.out = torch.nn.Parameter(torch.randn(1, 4, 8)), torch.nn.Linear(8, 3)
            self.into, self.down = torch.nn.Linear(8, 8), torch.nn.Parameter(torch.randn(8, 2))
            self.up = torch.nn.Parameter(torch.randn(2, 3))

        def forward(self, x):
            query = torch.relu(self.into(self.query))
            read = torch.softmax(query @ x.transpose(1, 2), -1) @ x
            return read @ (self.out.weight.T + self.down @ self.up)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module, x = Learned(), torch.randn(2, 5, 8)
    file = tmp_path / "learned.onnx"
    torch.onnx.export(module, (x,), file, dynamo=True, opset_version=20, optimize=False, verbose=False)
    found = neural_cost.analyze(file).training()
    assert found.complete
    assert found.backward_macs == backward_macs(lambda: module(x))
    assert found.saved_bytes == saved_bytes(module, lambda: module(x))
    read = sum(weight.numel() for name, weight in module.named_parameters() if name != "out.bias")
    assert found.parameters == read

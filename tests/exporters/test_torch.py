"""PyTorch modules of every calling convention, type and mode; the module is left as it was."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import pytest
import torch
from torch import nn

import neural_cost
from neural_cost import BackendError, ExportError
from neural_cost.models import torch_families

ROWS, COLUMNS = 3, 4  # of the inputs; linear layers have 5 outputs


class Sum(nn.Module):
    """One linear layer over the sum of two inputs."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(COLUMNS, 5))

    def forward(self, first, second=None, *, scale=2.0):
        return self.inner(first if second is None else first + scale * second)


@pytest.fixture
def module():
    torch.manual_seed(0)
    return Sum()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "model.onnx"


def tensor(*shape, **kwargs):
    return torch.randn(*(shape or (ROWS, COLUMNS)), generator=torch.Generator().manual_seed(1), **kwargs)


def op_types(file):
    return [node.op_type for node in onnx.load(file).graph.node]


@pytest.mark.parametrize(
    ("inputs", "names"),
    [
        (tensor(), ("first",)),
        pytest.param((tensor(), tensor()), ("first", "second"), marks=pytest.mark.long),
        pytest.param({"first": tensor(), "second": tensor()}, ("first", "second"), marks=pytest.mark.long),
        ((tensor(), {"second": tensor(), "scale": 3.0}), ("first", "second")),
        pytest.param([np.ones((ROWS, COLUMNS), np.float32)], ("first",), marks=pytest.mark.long),
    ],
    ids=["tensor", "tuple", "dict", "keywords and a constant", "arrays"],
)
def test_inputs(module, target, inputs, names):
    exported = neural_cost.export(module, inputs, target)
    assert exported.inputs == names
    assert exported.outputs == ("output",)
    assert exported.dims == {name: {0: "batch"} for name in names}
    assert exported.opset == 20
    totals = neural_cost.analyze(target, dims={"batch": 7}).totals
    assert (totals.macs, totals.parameters) == (7 * COLUMNS * 5, COLUMNS * 5 + 5)
    assert len(exported.parity.outputs) == 3


def test_nested_inputs_and_outputs_have_names(target):
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.LSTMCell(COLUMNS, COLUMNS)

        def forward(self, x, state):
            h, c = self.cell(x, state)
            return {"y": h + x, "state": (h, c)}

    exported = neural_cost.export(Cell(), (tensor(), (tensor(), tensor())), target)
    assert exported.inputs == ("x", "state_0", "state_1")
    assert exported.outputs == ("y", "output_state_0", "output_state_1")


def test_the_module_is_as_it_was(target):
    module = nn.Sequential(nn.Linear(COLUMNS, 5), nn.BatchNorm1d(5), nn.Dropout(0.5))
    module[2].eval()
    module[0].weight.grad = torch.ones(5, COLUMNS)
    calls = []
    module[0].register_forward_hook(lambda *_: calls.append(1))
    before = {name: value.clone() for name, value in module.state_dict().items()}
    hooks, flags = len(module[0]._forward_hooks), [each.training for each in module.modules()]
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    exported = neural_cost.export(module, tensor(requires_grad=True), target)
    assert torch.equal(torch.rand(1), expected)
    assert [each.training for each in module.modules()] == flags == [True, True, True, False]
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert torch.equal(module[0].weight.grad, torch.ones(5, COLUMNS))
    assert all(parameter.requires_grad for parameter in module.parameters())
    assert len(module[0]._forward_hooks) == hooks
    assert torch.is_grad_enabled()
    assert "Dropout" not in op_types(target)
    exported.native({"input": np.ones((2, COLUMNS), np.float32)})
    assert module.training


@pytest.mark.long
def test_a_module_that_counts_its_calls_is_put_back(target):
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros(1))

        def forward(self, x):
            self.calls += 1
            return x * 2

    module = Counting()
    neural_cost.export(module, tensor(), target)
    assert module.calls.item() == 0


@pytest.mark.parametrize(
    ("dtype", "bytes_each"),
    [
        pytest.param(torch.float16, 2, marks=pytest.mark.long),
        (torch.bfloat16, 2),
        pytest.param(torch.float64, 8, marks=pytest.mark.long),
    ],
)
def test_types(module, target, dtype, bytes_each):
    exported = neural_cost.export(module.to(dtype), tensor(dtype=dtype), target)
    totals = neural_cost.analyze(target).totals
    assert totals.parameter_bytes == (COLUMNS * 5 + 5) * bytes_each
    assert totals.macs_by_type == {str(dtype).removeprefix("torch."): COLUMNS * 5}
    assert 0 <= exported.parity.max_abs_diff < 0.1
    assert bool(exported.parity.notes) == (dtype == torch.bfloat16)


@pytest.mark.long
def test_a_bfloat16_convolution_with_its_norm_folded(target):
    """No opset below 22 has it; torch folds the norm in float32."""
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()).to(torch.bfloat16)
    exported = neural_cost.export(model, torch.randn(2, 3, 6, 6, dtype=torch.bfloat16), target)
    assert exported.opset == 22
    found = neural_cost.analyze(target, dims={"batch": 2}).totals
    assert found.macs_by_type == {"bfloat16": 2 * 16 * 8 * 27}
    assert (found.parameters, found.parameter_bytes) == (8 * 27 + 8, 2 * (8 * 27 + 8))


def test_a_graph_that_draws_random_numbers_cannot_be_compared(target):
    class Noise(nn.Module):
        def forward(self, x):
            return x + torch.randn_like(x)

    with pytest.raises(ExportError, match=r"draws random numbers \(node \w+, RandomNormalLike\)"):
        neural_cost.export(Noise(), tensor(), target)


def test_bfloat16_that_is_not_the_model_is_caught(module, target):
    from neural_cost.exporters.parity import compare

    exported = neural_cost.export(module.to(torch.bfloat16), tensor(dtype=torch.bfloat16), target)
    module.inner[0].bias.data += 1
    with pytest.raises(ExportError, match='output "output"'):
        compare(target, exported.native, exported.example, exported.dims)


def test_an_example_batch_of_one_stays_open(module, target):
    exported = neural_cost.export(module, tensor(1, COLUMNS), target)
    assert exported.dims == {"first": {0: "batch"}}
    assert neural_cost.analyze(target, dims={"batch": 9}).totals.macs == 9 * COLUMNS * 5


def test_two_named_dims(target):
    exported = neural_cost.export(nn.Conv1d(3, 4, 3), tensor(2, 3, 10), target, dynamic_dims={0: "n", 2: "steps"})
    assert exported.dims == {"input": {0: "n", 2: "steps"}}
    assert neural_cost.analyze(target, dims={"n": 2, "steps": 12}).totals.macs == 2 * 10 * 4 * (3 * 3)
    assert [each.sizes for each in exported.parity.outputs] == [{"n": 2, "steps": 10}, {"n": 3, "steps": 11}]


@pytest.mark.long
def test_nothing_open_when_asked(module, target):
    exported = neural_cost.export(module, tensor(), target, dynamic_dims={})
    assert exported.dims == {}
    assert neural_cost.analyze(target).totals.macs == ROWS * COLUMNS * 5


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ({"y": {0: "batch"}}, r'names "y", which is no input: choose of first, second'),
        ({"first": {2: "batch"}}, r'axis 2 of the input "first", which has 2 axes'),
        ({0: "batch"}, "needs the names of inputs, as there are 2: first, second"),
        ({"first": {0: "a", 1: "a"}}, 'dimension "a" is 3 in the input "first" and 4 in "first"'),
    ],
)
def test_dims_that_do_not_fit(module, target, dims, message):
    with pytest.raises(ExportError, match=message):
        neural_cost.export(module, (tensor(), tensor()), target, dynamic_dims=dims)


class FixedRows(nn.Module):
    def forward(self, x):
        return x + torch.arange(ROWS).reshape(ROWS, 1)


def test_a_fixed_batch_is_closed_with_a_note(target):
    exported = neural_cost.export(FixedRows(), tensor(), target)
    assert exported.dims == {}
    assert len(exported.notes) == 1
    assert exported.notes[0].startswith("no axis is open: ")


def test_a_fixed_batch_that_should_be_open_is_an_error(target):
    with pytest.raises(ExportError, match=r"cannot be open|does not run at every size"):
        neural_cost.export(FixedRows(), tensor(), target, dynamic_dims={0: "batch"})
    assert not target.exists()


@pytest.mark.long
def test_first_axes_that_differ_are_left_closed_with_a_note(module, target):
    exported = neural_cost.export(module, (tensor(), tensor(1, COLUMNS)), target)
    assert exported.dims == {}
    assert exported.notes == (
        "no axis is open: the first axes differ (first 3, second 1); name the open ones with dynamic_dims",
    )


@pytest.mark.long
def test_merged_weights_are_noted(target):
    layers = [nn.Linear(COLUMNS, COLUMNS) for _ in range(2)]
    layers[1].load_state_dict(layers[0].state_dict())  # two copies of 4 x 4 + 4 weights: one is enough
    exported = neural_cost.export(nn.Sequential(*layers), tensor(), target)
    assert exported.notes[0].startswith("the file holds 20 of the model's 40 parameters: the exporter merges")


def test_vanilla_rnn_is_one_operator(target):
    module, inputs = torch_families.rnn()
    exported = neural_cost.export(module.train(), inputs, target)
    assert exported.exporter == "torch.onnx (traced)"
    assert op_types(target).count("RNN") == 2
    assert module.training


@pytest.mark.long
def test_an_rnn_beside_a_branch_is_not_traced(target):
    class Branching(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.RNN(COLUMNS, 5)

        def forward(self, x):
            y, _ = self.rnn(x)
            return y if y.sum() > 0 else -y

    with pytest.raises(ExportError, match="branches on the value of a tensor"):
        neural_cost.export(Branching(), tensor(2, ROWS, COLUMNS), target)
    assert not target.exists()


def test_scopes_stay_and_stack_traces_go(module, target):
    neural_cost.export(module, tensor(), target)
    (node,) = [node for node in neural_cost.analyze(target).nodes if node.macs]
    assert node.scope == "inner/0"
    assert b"stack_trace" not in target.read_bytes()


def test_warnings_are_collected_and_not_shown(target, capfd):
    import warnings

    class Warning_(nn.Module):
        def forward(self, x):
            warnings.warn("beware", stacklevel=1)
            print("printed")
            return x + 1

    exported = neural_cost.export(Warning_(), tensor(), target)
    assert "beware" in exported.warnings
    assert capfd.readouterr() == ("", "")


class Branch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x - 1


class Unsupported(nn.Module):
    def forward(self, x):
        return torch.linalg.eigvals(x[:, :1, None] * torch.ones(2, 2))


class Nothing(nn.Module):
    def forward(self, x):
        return None


@pytest.mark.parametrize(
    ("model", "inputs", "message"),
    [
        (Branch(), tensor(), r"branches on the value of a tensor.*use torch\.where or torch\.cond"),
        pytest.param(
            Unsupported(),
            tensor(),
            r"operator aten\.\w*eig\w*.* has no ONNX translation",
            marks=pytest.mark.long,
        ),
        (
            nn.Linear(4, 5),
            tensor(2, 3),
            r"cannot run on its example inputs \(input \[2, 3\]\): mat1 and mat2.*Give inputs",
        ),
        (nn.Linear(4, 5), (tensor(), tensor()), r"do not fit Linear\.forward: too many positional arguments"),
        (nn.Linear(4, 5), {"y": tensor()}, r"do not fit Linear\.forward: missing a required argument: 'input'"),
        (nn.Linear(4, 5, device="meta"), tensor(), "on the meta device, without weights"),
        (nn.Linear(4, 5), None, "Linear needs example inputs"),
        (Nothing(), tensor(), "returns no tensor"),
    ],
    ids=["branch", "unsupported operator", "wrong shape", "too many", "wrong name", "meta", "no inputs", "no outputs"],
)
def test_one_clear_sentence_and_no_file(target, model, inputs, message):
    with pytest.raises(ExportError, match=message) as caught:
        neural_cost.export(model, inputs, target)
    assert "\n" not in str(caught.value)
    assert list(target.parent.iterdir()) == []


def test_a_missing_extra_is_named(module, target, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(BackendError, match=r"onnxscript is missing: pip install 'neural-cost\[torch\]'\."):
        neural_cost.export(module, tensor(), target)

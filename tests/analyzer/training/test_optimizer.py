"""State against the state dicts of torch.optim, byte for byte; 8-bit Adam against its published layout.

Work of a step against what torch's own step computes, operator by operator.
"""

from __future__ import annotations

import pytest

import neural_cost
from neural_cost.analyzer.training.optimizer import Parameter, state_bytes, step_flops
from neural_cost.analyzer.training.options import Optimizer
from neural_cost.models import zoo
from tests.analyzer.training.torch_runs import elementwise_flops
from tests.layout import ROOT

torch = pytest.importorskip("torch")

SHAPES = [(), (7,), (1,), (3, 5), (64, 3, 3, 3), (2, 4, 5), (128, 784), (5000,)]
FACTORIES = {
    Optimizer.SGD: lambda weights: torch.optim.SGD(weights, lr=0.1),
    Optimizer.MOMENTUM: lambda weights: torch.optim.SGD(weights, lr=0.1, momentum=0.9),
    Optimizer.ADAM: torch.optim.Adam,
    Optimizer.ADAMW: torch.optim.AdamW,
    Optimizer.ADAFACTOR: torch.optim.Adafactor,
}


def bytes_in(state):
    tensors = [each for of_one in state["state"].values() for each in of_one.values() if torch.is_tensor(each)]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", FACTORIES)
def test_state_is_that_of_torch(name, dtype):
    weights = [torch.nn.Parameter(torch.ones(shape, dtype=dtype)) for shape in SHAPES]
    optimizer = FACTORIES[name](weights)
    for weight in weights:
        weight.grad = torch.ones_like(weight)
    optimizer.step()
    found = state_bytes(name, [Parameter(shape, weights[0].element_size()) for shape in SHAPES])
    assert found == bytes_in(optimizer.state_dict())


# Its normalization is folded into the file's convolutions: a scale and a bias of 64, and of 128.
FOLDED = {"cnn": [Parameter((width,), 4) for width in (64, 64, 128, 128)]}


@pytest.mark.parametrize("model", ["dnn", "cnn", "rnn", "lstm", "transformer"])
@pytest.mark.parametrize("name", FACTORIES)
def test_state_of_a_file_is_that_of_its_module(name, model):
    weights = [torch.nn.Parameter(each.detach().clone()) for each in zoo.family(model)[0].parameters()]
    optimizer = FACTORIES[name](weights)
    for weight in weights:
        weight.grad = torch.ones_like(weight)
    optimizer.step()
    found = neural_cost.analyze(ROOT / "models" / f"{model}.onnx").training(optimizer=name).optimizer_bytes
    assert found + state_bytes(name, FOLDED.get(model, [])) == bytes_in(optimizer.state_dict())


@pytest.mark.parametrize("name", FACTORIES)
def test_a_step_is_what_torch_computes(name):
    """In the second step, which has a state to begin with; what is done once for a tensor or matrix is left out."""
    shapes = [(7,), (3, 5), (6, 3, 3, 4), (2, 4, 5)]
    weights = [torch.nn.Parameter(torch.ones(shape)) for shape in shapes]
    optimizer = FACTORIES[name](weights)
    optimizer.param_groups[0]["foreach"] = False
    for weight in weights:
        weight.grad = torch.ones_like(weight)
    optimizer.step()
    assert step_flops(name, [Parameter(shape, 4) for shape in shapes]) == elementwise_flops(optimizer.step)


def test_a_step_of_8_bit_adam():
    """Small tensors are stepped as Adam steps them; large ones are dequantized and quantized as well."""
    assert step_flops(Optimizer.ADAM8BIT, [Parameter((4095,), 4)]) == 13 * 4095
    # scale; two times a maximum; averages; maxima; update; divide; search of two codes among 256; sign
    large = 1 + 2 + (3 + 4) + 4 + 5 + 2 + 2 * (8 + 3) + 1
    assert step_flops(Optimizer.ADAM8BIT, [Parameter((4096,), 4)]) == large * 4096


def test_8_bit_adam_has_the_state_of_bitsandbytes():
    bitsandbytes = pytest.importorskip("bitsandbytes")
    shapes = [(63, 65), (64, 65), (128, 784), (5000,), (4096,)]
    weights = [torch.nn.Parameter(torch.ones(shape)) for shape in shapes]
    optimizer = bitsandbytes.optim.Adam8bit(weights)
    for weight in weights:
        weight.grad = torch.ones_like(weight)
    optimizer.step()
    tensors = {
        id(each): each for of_one in optimizer.state.values() for each in of_one.values() if torch.is_tensor(each)
    }
    found = state_bytes(Optimizer.ADAM8BIT, [Parameter(shape, 4) for shape in shapes])
    assert found == sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())


def test_8_bit_adam_has_its_published_layout():
    small, large = (63, 65), (64, 65)  # 4095 and 4160 elements: 32 bits, and 8 bits in 17 blocks of 256
    assert state_bytes(Optimizer.ADAM8BIT, [Parameter(small, 4)]) == 2 * 4 * 4095
    assert state_bytes(Optimizer.ADAM8BIT, [Parameter(large, 4)]) == 2 * (4160 + 4 * 17) + 2 * 256 * 4
    both = [Parameter(small, 4), Parameter(large, 4)]
    assert state_bytes(Optimizer.ADAM8BIT, both) == 2 * 4 * 4095 + 2 * (4160 + 4 * 17) + 2 * 256 * 4


def test_every_optimizer_is_compared():
    assert {*FACTORIES, Optimizer.ADAM8BIT} == set(Optimizer)

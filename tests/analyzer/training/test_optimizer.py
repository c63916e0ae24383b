"""State against the state dicts of torch.optim, byte for byte; 8-bit Adam against its published layout."""

from __future__ import annotations

import pytest

from neural_cost.analyzer.training.optimizer import Parameter, state_bytes
from neural_cost.analyzer.training.options import Optimizer

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


def test_8_bit_adam_has_its_published_layout():
    small, large = (63, 65), (64, 65)  # 4095 and 4160 elements: 32 bits, and 8 bits in 17 blocks of 256
    assert state_bytes(Optimizer.ADAM8BIT, [Parameter(small, 4)]) == 2 * 4 * 4095
    assert state_bytes(Optimizer.ADAM8BIT, [Parameter(large, 4)]) == 2 * (4160 + 4 * 17) + 2 * 256 * 4
    both = [Parameter(small, 4), Parameter(large, 4)]
    assert state_bytes(Optimizer.ADAM8BIT, both) == 2 * 4 * 4095 + 2 * (4160 + 4 * 17) + 2 * 256 * 4


def test_every_optimizer_is_compared():
    assert {*FACTORIES, Optimizer.ADAM8BIT} == set(Optimizer)

"""Layers of many kinds against torch: MACs backward exactly, and what is kept, with each difference as arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import neural_cost
from tests.analyzer.training.resnet import export
from tests.analyzer.training.torch_runs import backward_macs, saved_bytes

torch = pytest.importorskip("torch")
nn = torch.nn
functional = nn.functional
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")


class Net(nn.Module):
    """Layers that a function puts together."""

    def __init__(self, together: Callable[..., Any], *layers: Any) -> None:
        super().__init__()
        self.layers, self.together = nn.ModuleList(layers), together

    def forward(self, x: Any) -> Any:
        return self.together(x, *self.layers)


class Row(NamedTuple):
    """A network, the shape that it reads, and how many bytes more the file keeps than torch does."""

    make: Callable[[], Any]
    shape: tuple[int, ...]
    more: int = 0
    macs: bool = True  # torch counts them right


def unet(x, down, middle, out):
    first = torch.relu(down(x))
    up = functional.interpolate(middle(functional.max_pool2d(first, 2)), scale_factor=2, mode="bilinear")
    return out(torch.cat([up, first], 1))


def attention(x, q, k, v):
    return torch.softmax(q(x) @ k(x).transpose(1, 2) / 4, -1) @ v(x)


L = nn.Linear
ROWS = {
    "gelu": Row(lambda: nn.Sequential(L(16, 32), nn.GELU(), L(32, 8)), (4, 16)),
    "transposed": Row(
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.LeakyReLU(), nn.ConvTranspose2d(8, 4, 4, 2), nn.Sigmoid()),
        (2, 3, 17, 17),
    ),
    "unet": Row(
        lambda: Net(unet, nn.Conv2d(3, 4, 3, 1, 1), nn.Conv2d(4, 4, 3, 1, 1), nn.Conv2d(8, 2, 1)), (2, 3, 16, 16)
    ),
    "batch_norm": Row(
        lambda: nn.Sequential(nn.Conv1d(4, 8, 3), nn.BatchNorm1d(8), nn.Tanh(), nn.Conv1d(8, 2, 3)), (2, 4, 16)
    ),
    "layer_norm": Row(
        lambda: nn.Sequential(L(16, 8), nn.LayerNorm(8, elementwise_affine=False), L(8, 2)), (4, 16)
    ),
    "shuffle": Row(
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3, 1, 1), nn.PixelShuffle(2), nn.PReLU(), nn.Conv2d(2, 1, 3)),
        (1, 3, 8, 8),
    ),
    "clamps": Row(lambda: nn.Sequential(L(8, 8), nn.ReLU6(), L(8, 8), nn.Hardtanh(), L(8, 2)), (3, 8)),
    "product": Row(lambda: Net(lambda x, a, b: (a(x) * b(x)).sum(-1), L(16, 8), L(16, 8)), (4, 16)),
    "einsum": Row(
        lambda: Net(lambda x, a, b: torch.einsum("bij,bkj->bik", a(x), b(x)), L(16, 8), L(16, 8)), (2, 5, 16)
    ),
    "gram": Row(lambda: Net(lambda x, a: torch.bmm(a(x), a(x).transpose(1, 2)), L(8, 8)), (3, 4, 8)),
    "attention": Row(lambda: Net(attention, L(16, 16), L(16, 16), L(16, 16)), (2, 5, 16)),
    # On a CPU torch's mask is of float32, not of a byte.
    "dropout": Row(
        lambda: nn.Sequential(L(16, 32), nn.Dropout(0.3), nn.ReLU(), L(32, 8), nn.LogSoftmax(-1)), (4, 16), -3 * 4 * 32
    ),
    # Torch keeps the image that it averages over, of which the gradient needs nothing.
    "average": Row(
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.AvgPool2d(2), nn.Hardswish(), nn.Conv2d(8, 4, 3)), (2, 3, 16, 16),
        -4 * 2 * 8 * 14 * 14,
    ),
    # SiLU stands there as a Sigmoid and a product; torch counts a filter's gradient for all channels, not its group.
    "depthwise": Row(
        lambda: nn.Sequential(nn.Conv2d(3, 8, 1), nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.SiLU(), nn.Conv2d(8, 4, 1)),
        (2, 3, 16, 16), 4 * 2 * 8 * 16 * 16, macs=False,
    ),
    # A softplus stands there with its threshold: the mask, and a slope and a threshold of one element.
    "softplus": Row(
        lambda: nn.Sequential(nn.Conv3d(2, 4, 3), nn.Softplus(), nn.Conv3d(4, 2, 2)), (1, 2, 8, 8, 8), 4 * 6**3 + 4 + 4
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_layers_cost_what_torch_counts_and_keeps(name, tmp_path):
    row = ROWS[name]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module, example = row.make(), torch.randn(row.shape)
    found = neural_cost.analyze(export(module, example, tmp_path / "net.onnx")).training()
    assert found.complete, (found.uncounted, found.unknown)
    if row.macs:
        assert found.backward_macs == backward_macs(lambda: module(example))
    assert found.saved_bytes - row.more == saved_bytes(module, lambda: module(example))


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU])
def test_recurrent_layers_of_a_fixed_batch_train_no_state(layer, tmp_path):
    """The file has zeros of the batch's size as their initial state: no weight, and no product for it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = Net(lambda x, cell, out: out(cell(x)[0]), layer(8, 16, bidirectional=True, batch_first=True), L(32, 4))
        example = torch.randn(4, 10, 8)
    report = neural_cost.analyze(export(module, example, tmp_path / "net.onnx"))
    assert report.totals.parameters == sum(weight.numel() for weight in module.parameters())
    assert report.training().backward_macs == backward_macs(lambda: module(example))

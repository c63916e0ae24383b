"""The canonical families in PyTorch.

Each function is a factory: it returns the module, in eval mode and with the same random weights every time, and
example inputs at batch 2. All take float32 and give 10 logits.

    dnn          (batch, 784)         two hidden layers of 128: dense, ReLU, LayerNorm
    cnn          (batch, 3, 32, 32)   two 3x3 convolutions, of 64 and 128 channels, each with BatchNorm and ReLU
    rnn          (batch, 32, 128)     two tanh layers of 128 without bias, the last of 32 steps classified
    lstm         (batch, 32, 128)     the same with LSTM cells
    gru          (batch, 32, 128)     the same with GRU cells, whose reset gate works on the product, as cuDNN's does
    bilstm       (batch, 32, 128)     two LSTM layers in both directions, 128 in each
    transformer  (batch, 32, 128)     two post-norm encoder layers, 4 heads, FFN of 512, the mean of 32 steps classified
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from torch import Tensor, nn

    Family: TypeAlias = tuple[nn.Module, tuple[Tensor, ...]]

CLASSES = 10
WIDTH = 128
STEPS = 32
SEED = 0
EXAMPLE_BATCH = 2  # an exporter takes an example batch of 1 for a constant


def dnn() -> Family:
    """Return the feed-forward network: 784-128-128-10."""
    return _seeded(_dnn, 784)


def cnn() -> Family:
    """Return the convolutional network, for 32x32 images of 3 channels."""
    return _seeded(_cnn, 3, 32, 32)


def rnn() -> Family:
    """Return the network of plain tanh cells."""
    return _seeded(_rnn, STEPS, WIDTH)


def lstm() -> Family:
    """Return the network of LSTM cells."""
    return _seeded(_lstm, STEPS, WIDTH)


def gru() -> Family:
    """Return the network of GRU cells."""
    return _seeded(_gru, STEPS, WIDTH)


def bilstm() -> Family:
    """Return the network of LSTM cells in both directions."""
    return _seeded(_bilstm, STEPS, WIDTH)


def transformer() -> Family:
    """Return the Transformer encoder."""
    return _seeded(_transformer, STEPS, WIDTH)


def _seeded(build: Callable[[], nn.Module], *shape: int) -> Family:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        module = build().eval()
        _make_distinct(module)
        return module, (torch.randn(EXAMPLE_BATCH, *shape),)


def _make_distinct(module: nn.Module) -> None:
    """Move every weight a little: fresh norms and copied layers are equal, and exporters merge equal tensors."""
    import torch

    for tensor in module.state_dict().values():
        if tensor.is_floating_point():
            tensor.add_(torch.randn_like(tensor), alpha=0.02)


def _dnn() -> nn.Module:
    from torch import nn

    def hidden(width_in: int) -> nn.Module:
        layer = {"dense": nn.Linear(width_in, WIDTH), "relu": nn.ReLU(), "norm": nn.LayerNorm(WIDTH)}
        return nn.Sequential(OrderedDict(layer))

    return nn.Sequential(OrderedDict(hidden1=hidden(784), hidden2=hidden(WIDTH), classifier=nn.Linear(WIDTH, CLASSES)))


def _cnn() -> nn.Module:
    from torch import nn

    def block(channels_in: int, channels: int) -> nn.Module:
        conv = nn.Conv2d(channels_in, channels, kernel_size=3, padding="same")
        return nn.Sequential(OrderedDict(conv=conv, norm=nn.BatchNorm2d(channels), relu=nn.ReLU()))

    return nn.Sequential(
        OrderedDict(
            block1=block(3, 64),
            pool=nn.MaxPool2d(2),
            block2=block(64, 128),
            global_pool=nn.AdaptiveAvgPool2d(1),
            flatten=nn.Flatten(),
            classifier=nn.Linear(128, CLASSES),
        )
    )


def _rnn() -> nn.Module:
    from torch import nn

    return _last_step(nn.RNN(WIDTH, WIDTH, num_layers=2, bias=False, batch_first=True))


def _lstm() -> nn.Module:
    from torch import nn

    return _last_step(nn.LSTM(WIDTH, WIDTH, num_layers=2, bias=False, batch_first=True))


def _gru() -> nn.Module:
    from torch import nn

    return _last_step(nn.GRU(WIDTH, WIDTH, num_layers=2, bias=False, batch_first=True))


def _bilstm() -> nn.Module:
    from torch import nn

    both = nn.LSTM(WIDTH, WIDTH, num_layers=2, bias=False, batch_first=True, bidirectional=True)
    return _last_step(both, width=2 * WIDTH)


def _last_step(recurrent: nn.Module, width: int = WIDTH) -> nn.Module:
    from torch import nn

    class LastStepClassifier(nn.Module):  # type: ignore[misc]  # torch is not read by the type checker
        def __init__(self) -> None:
            super().__init__()
            self.recurrent = recurrent
            self.classifier = nn.Linear(width, CLASSES)

        def forward(self, x: Tensor) -> Tensor:
            steps, _ = self.recurrent(x)
            return self.classifier(steps[:, -1])

    return LastStepClassifier()


def _transformer() -> nn.Module:
    from torch import nn

    class MeanClassifier(nn.Module):  # type: ignore[misc]  # torch is not read by the type checker
        def __init__(self) -> None:
            super().__init__()
            layer = nn.TransformerEncoderLayer(WIDTH, nhead=4, dim_feedforward=512, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
            self.classifier = nn.Linear(WIDTH, CLASSES)

        def forward(self, x: Tensor) -> Tensor:
            return self.classifier(self.encoder(x).mean(dim=1))

    return MeanClassifier()

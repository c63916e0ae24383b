"""The canonical families in PyTorch.

Each function is a factory: it returns the module, in eval mode and with the same weights every time and in every
framework, and example inputs at batch 2. All take float32 and give 10 logits.

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

from neural_cost.models.weights import CLASSES, WIDTH, Weights, draw, example

if TYPE_CHECKING:
    from torch import Tensor, nn

    Family: TypeAlias = tuple[nn.Module, tuple[Tensor, ...]]


def dnn() -> Family:
    """Return the feed-forward network: 784-128-128-10."""
    return _filled(_dnn, "dnn")


def cnn() -> Family:
    """Return the convolutional network, for 32x32 images of 3 channels."""
    return _filled(_cnn, "cnn")


def rnn() -> Family:
    """Return the network of plain tanh cells."""
    return _filled(_rnn, "rnn")


def lstm() -> Family:
    """Return the network of LSTM cells."""
    return _filled(_lstm, "lstm")


def gru() -> Family:
    """Return the network of GRU cells."""
    return _filled(_gru, "gru")


def bilstm() -> Family:
    """Return the network of LSTM cells in both directions."""
    return _filled(_bilstm, "bilstm")


def transformer() -> Family:
    """Return the Transformer encoder."""
    return _filled(_transformer, "transformer")


def _filled(build: Callable[[], nn.Module], family: str) -> Family:
    """Build without drawing from the user's generator, and put the family's own weights in."""
    import torch

    with torch.random.fork_rng(devices=[]):
        module = build().eval()
    carry(module, draw(family))
    return module, (torch.from_numpy(example(family)),)


def carry(module: nn.Module, weights: Weights) -> None:
    """Put weights of these names into a family's module."""
    import torch

    module.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()}, strict=False)


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

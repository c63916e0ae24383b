"""ResNet-18 in PyTorch, as He et al. (2016) describe it, with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def resnet18(classes: int = 10) -> Any:
    """Four stages of two basic blocks; a 1x1 convolution where a block halves the image."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, before: int, width: int, stride: int) -> None:
            super().__init__()
            self.first = nn.Sequential(nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width))
            self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
            self.short = nn.Identity()
            if stride > 1:
                self.short = nn.Sequential(nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width))

        def forward(self, x: Any) -> Any:
            return torch.relu(self.second(torch.relu(self.first(x))) + self.short(x))

    stages, before = [], 64
    for stage, width in enumerate((64, 128, 256, 512)):
        stages += [Block(before, width, 2 if stage else 1), Block(width, width, 1)]
        before = width
    return nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
        nn.Sequential(*stages), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes),
    )  # fmt: skip


def export(module: Any, example: Any, file: Path) -> Path:
    """Export for training: BatchNormalization stays as it is."""
    import torch

    module.train()
    torch.onnx.export(
        module, (example,), file, dynamo=True, opset_version=20, external_data=False, verbose=False, optimize=False
    )
    return file

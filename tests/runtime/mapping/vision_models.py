"""MobileNet and U-Net in PyTorch, as wide as in their papers, on small images."""

from __future__ import annotations

from itertools import pairwise
from typing import Any


def mobilenet() -> tuple[Any, tuple[Any, ...]]:
    """MobileNetV2: inverted residual blocks of 1x1, depthwise 3x3 and 1x1 convolutions; and an image of 128 x 128."""
    import torch
    from torch import nn

    def convolution(into: int, out: int, kernel: int = 1, stride: int = 1, groups: int = 1) -> list[nn.Module]:
        made = nn.Conv2d(into, out, kernel, stride, kernel // 2, groups=groups, bias=False)
        return [made, nn.BatchNorm2d(out)]

    class InvertedResidual(nn.Module):
        def __init__(self, into: int, out: int, stride: int, expand: int) -> None:
            super().__init__()
            inner = into * expand
            first = [*convolution(into, inner), nn.ReLU6()] if expand > 1 else []
            depthwise = [*convolution(inner, inner, 3, stride, groups=inner), nn.ReLU6()]
            self.body = nn.Sequential(*first, *depthwise, *convolution(inner, out))
            self.residual = stride == 1 and into == out

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.body(x) if self.residual else self.body(x)

    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    layers, width = [*convolution(3, 32, 3, 2), nn.ReLU6()], 32
    for expand, out, repeats, stride in stages:
        for place in range(repeats):
            layers.append(InvertedResidual(width, out, stride if place == 0 else 1, expand))
            width = out
    layers += [*convolution(width, 1280), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers).eval(), (torch.randn(1, 3, 128, 128),)


def unet() -> tuple[Any, tuple[Any, ...]]:
    """U-Net: the upper four levels of five, from 64 channels on; and an image of 64 x 64."""
    import torch
    from torch import nn

    def double(into: int, out: int) -> nn.Sequential:
        first, second = (nn.Conv2d(width, out, 3, padding=1, bias=False) for width in (into, out))
        return nn.Sequential(first, nn.BatchNorm2d(out), nn.ReLU(), second, nn.BatchNorm2d(out), nn.ReLU())

    class UNet(nn.Module):
        def __init__(self, widths: tuple[int, ...] = (64, 128, 256, 512)) -> None:
            super().__init__()
            pairs = list(pairwise(widths))
            self.first = double(3, widths[0])
            self.down = nn.ModuleList(double(into, out) for into, out in pairs)
            self.up = nn.ModuleList(nn.ConvTranspose2d(out, into, 2, stride=2) for into, out in reversed(pairs))
            self.after = nn.ModuleList(double(2 * into, into) for into, _ in reversed(pairs))
            self.last = nn.Conv2d(widths[0], 2, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.first(x)
            skipped = []
            for level in self.down:
                skipped.append(x)
                x = level(nn.functional.max_pool2d(x, 2))
            for up, after in zip(self.up, self.after, strict=True):
                x = after(torch.cat([skipped.pop(), up(x)], dim=1))
            return self.last(x)

    return UNet().eval(), (torch.randn(1, 3, 64, 64),)

"""A module in eval mode, without gradients, and afterwards as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, nn


@contextmanager
def as_for_inference(module: nn.Module) -> Iterator[None]:
    """Set eval mode, stop gradients and hold random generators; put training flags and buffers back."""
    import torch

    training = [(each, each.training) for each in module.modules()]
    buffers = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]
    devices = sorted({index for weight in module.parameters() if (index := _cuda_index(weight)) is not None})
    with torch.random.fork_rng(devices=devices), torch.no_grad():
        try:
            with suppress(NotImplementedError):  # a torch.export program has no modes
                module.eval()
            yield
        finally:
            for each, flag in training:
                each.training = flag
            for buffer, value in buffers:
                _put_back(buffer, value)


def _put_back(buffer: Tensor, value: Tensor) -> None:
    """Write only what changed: a write raises the version that autograd checks."""
    import torch

    if not torch.equal(buffer, value):
        buffer.copy_(value)


def _cuda_index(weight: Tensor) -> int | None:
    return weight.device.index if weight.device.type == "cuda" else None

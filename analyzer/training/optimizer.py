"""The state of an optimizer, byte for byte as `torch.optim` keeps it, and the work of its step.

8-bit Adam is that of bitsandbytes (0.44 and later; Dettmers et al., "8-bit Optimizers via Block-wise Quantization",
2022): a tensor of 4096 elements and more has two states of a byte each, with a float32 for each block of 256; a smaller
one has two of float32. Two tables of 256 float32 serve all tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from neural_cost.analyzer.cost import Dim, ceil_div, prod
from neural_cost.analyzer.rules.activations import PerElement
from neural_cost.analyzer.training.options import Optimizer

STEP = 4  # bytes of the count of steps that each tensor has: a float32
BLOCK, SMALLEST, TABLES = 256, 4096, 2 * 256 * 4

WORK = {
    Optimizer.SGD: PerElement(2),  # x - r * g
    Optimizer.MOMENTUM: PerElement(4),  # a * v + g; x - r * v
    # a * m + (1 - a) * g; b * v + (1 - b) * g * g; sqrt(v) / c + e; x - r * m / that
    Optimizer.ADAM: PerElement(3 + 4 + 3 + 3, 3),
    Optimizer.ADAMW: PerElement(3 + 4 + 3 + 3 + 1, 3),  # and x * (1 - r * w)
}
"""FLOPs of a step for each element. Adafactor's depend on shapes, those of 8-bit Adam on how it quantizes: unknown."""


class Parameter(NamedTuple):
    """A trained weight as the optimizer sees it: its shape, and the bytes of an element of its state."""

    shape: Sequence[Dim]
    width: int

    @property
    def size(self) -> Dim:
        """Elements."""
        return prod(self.shape)


def state_bytes(optimizer: Optimizer, parameters: Sequence[Parameter]) -> Dim:
    """Bytes of an optimizer's state."""
    if optimizer is Optimizer.ADAM8BIT:
        tables = TABLES if any(each.size >= SMALLEST for each in parameters) else 0
        return sum((_blockwise(each.size) for each in parameters), tables)
    return sum((_plain(optimizer, each) for each in parameters), 0)


def _plain(optimizer: Optimizer, parameter: Parameter) -> Dim:
    if optimizer is Optimizer.SGD:
        return 0
    if optimizer is Optimizer.MOMENTUM:
        return parameter.width * parameter.size
    if optimizer is Optimizer.ADAFACTOR:
        return parameter.width * _factors(parameter.shape) + STEP
    return 2 * parameter.width * parameter.size + STEP


def _factors(shape: Sequence[Dim]) -> Dim:
    """Elements of the second moment: that of a matrix by rows and by columns, of the last two axes."""
    if len(shape) < 2:
        return prod(shape)
    rest = prod(shape[:-2])
    return rest * shape[-2] + rest * shape[-1]


def _blockwise(size: Dim) -> Dim:
    return 2 * 4 * size if size < SMALLEST else 2 * (size + 4 * ceil_div(size, BLOCK))

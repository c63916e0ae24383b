"""The state of an optimizer, byte for byte as `torch.optim` keeps it, and the work of its step.

8-bit Adam is that of bitsandbytes (0.44 and later; Dettmers et al., "8-bit Optimizers via Block-wise Quantization",
2022): a tensor of 4096 elements and more has two states of a byte each, with a float32 for each block of 256; a smaller
one has two of float32. Two tables of 256 float32 serve all tensors.

Work is that of each element, row and column; what is done once for a whole tensor is left out.
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
"""FLOPs of a step for each element, where shapes do not matter."""

# As the CUDA kernel of bitsandbytes does it (csrc/cuda/optimizers.cu): c * g; two states times the maximum of their
# block; the averages; |m| and |v| with their maxima; x + r * m / (sqrt(v) + e); both by the new maxima; for each the
# search of a code (8 comparisons in a table of 256, the middle between two, one more); the sign of one.
ADAM8BIT = PerElement(1 + 2 + (3 + 4) + 2 * 2 + 5 + 2 + 2 * (8 + 2 + 1) + 1, 4)

# As torch/optim/_adafactor.py does it. An element: the norm of x, 2; of g by rows, 2, and by columns, 2; the product of
# both, by the mean, 2; clamp, 1 / sqrt, by g, 3; the norm of that, 2; x + r * u, 2.
ADAFACTOR = PerElement(2 + 2 + 2 + 2 + 3 + 2 + 2, 2)
ADAFACTOR_LINE = PerElement(3 + 3, 2)  # a row or a column: root, square, divide; v + w * (m - v)
ADAFACTOR_VECTOR = PerElement(2 + (1 + 3) + 3 + 2 + 2, 1)  # without them: g * g; v + w * (m - v)


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


def step_flops(optimizer: Optimizer, parameters: Sequence[Parameter]) -> Dim:
    """FLOPs of a step."""
    return sum((_step(optimizer, each) for each in parameters), 0)


def _step(optimizer: Optimizer, parameter: Parameter) -> Dim:
    if optimizer is Optimizer.ADAFACTOR:
        return _step_of_adafactor(parameter)
    if optimizer is Optimizer.ADAM8BIT:
        work = ADAM8BIT if parameter.size >= SMALLEST else WORK[Optimizer.ADAM]
        return parameter.size * work.flops
    return parameter.size * WORK[optimizer].flops


def _step_of_adafactor(parameter: Parameter) -> Dim:
    """Rows have one add more, for the mean that the product is divided by."""
    shape = parameter.shape
    if len(shape) < 2:
        return parameter.size * ADAFACTOR_VECTOR.flops
    rest = prod(shape[:-2])
    lines = rest * shape[-2] * (ADAFACTOR_LINE.flops + 1) + rest * shape[-1] * ADAFACTOR_LINE.flops
    return parameter.size * ADAFACTOR.flops + lines


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

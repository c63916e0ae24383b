"""Tensors in blocks of channels: the layout in which ONNX Runtime convolves on a CPU, and what it pads.

Channels that are no whole number of blocks are filled up to one. Elementwise operators go on with such a tensor; for
all others, the next convolution too, and for the caller it is laid out the usual way as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neural_cost.analyzer.memory.scope import Key, Scope
from neural_cost.analyzer.node import Tensor

BLOCK = 16  # channels; 8 without AVX-512
CONVOLUTIONS = {"Conv", "FusedConv"}
ELEMENTWISE = {"Add", "Sum", "Mul", "Relu", "LeakyRelu", "Sigmoid", "Tanh", "Clip", "HardSigmoid", "BatchNormalization"}


def padded(scope: Scope, sizes: Mapping[Key, int], tensors: Mapping[Key, Tensor]) -> dict[Key, int]:
    """Bytes of tensors whose channels are filled up; of those of bodies too."""
    blocked: set[Key] = set()
    elsewhere = set(scope.outputs)
    found: dict[Key, int] = {}
    for step in scope.steps:
        goes_on = step.op_type in ELEMENTWISE and any(key in blocked for key in step.reads)
        if goes_on or step.op_type in CONVOLUTIONS:
            blocked.update(step.writes[:1])
        if not goes_on:
            elsewhere.update(step.reads)
        for body in step.bodies:
            found |= padded(body.scope, sizes, tensors)
    for key in blocked:
        more = _more(tensors[key].dims or ())
        if more:
            found[key] = sizes[key] // more[0] * more[1] + (sizes[key] if key in elsewhere else 0)
    return found


def _more(dims: Sequence[object]) -> tuple[int, int] | None:
    """Channels of an image, and as many as whole blocks have, where those are more."""
    channels = dims[1] if len(dims) == 4 else None  # (batch, channels, height, width)
    if not isinstance(channels, int) or channels <= 0 or channels % BLOCK == 0:
        return None
    return channels, -(-channels // BLOCK) * BLOCK

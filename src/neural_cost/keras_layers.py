"""MACs and activations of Keras layers, by the conventions of NNS: one instance, no bias, no elementwise work.

A rule sees a built layer with the shapes that it reads and gives, batch left out. One multiply-add is a MAC, which NNS
calls a FLOP. Activations are elements of outputs, twice where the layer has an activation of its own that is not
linear; of a recurrent layer they are the hidden states of all steps, whether it returns them or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

Shape: TypeAlias = "tuple[int, ...]"


class Work(NamedTuple):
    """MACs of the forward pass of one instance, and elements of its activations."""

    macs: int
    activations: int

    def times(self, count: int) -> Work:
        """The same so many times."""
        return Work(self.macs * count, self.activations * count)

    def __add__(self, other: object) -> Work:
        """Both together, not the tuples."""
        return (
            Work(self.macs + other.macs, self.activations + other.activations)
            if isinstance(other, Work)
            else NotImplemented
        )


class Unsupported(Exception):
    """What a layer costs is not known; the text says why."""


Rule: TypeAlias = Callable[[Any, Sequence[Shape], Sequence[Shape]], Work]

FREE = {
    "Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "GaussianDropout", "GaussianNoise",
    "AlphaDropout", "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D", "GlobalAveragePooling1D",
    "GlobalAveragePooling2D", "GlobalAveragePooling3D", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D",
    "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "Flatten", "Reshape", "RepeatVector", "Lambda", "Permute",
    "Activation", "LeakyReLU", "PReLU", "ELU", "ThresholdedReLU", "Softmax", "ReLU", "Add", "Subtract", "Multiply",
    "Average", "Maximum", "Minimum", "Concatenate", "UpSampling1D", "UpSampling2D", "UpSampling3D", "ZeroPadding1D",
    "ZeroPadding2D", "ZeroPadding3D", "Cropping1D", "Cropping2D", "Cropping3D", "BatchNormalization",
    "LayerNormalization", "GroupNormalization", "UnitNormalization", "RMSNormalization", "SpectralNormalization",
    "Rescaling", "Normalization", "Masking", "Identity", "ActivityRegularization", "Embedding",
    "GetItem", "Transpose", "ExpandDims", "Squeeze", "Mean", "Sum", "Max", "Relu", "Gelu", "Tanh", "Sigmoid", "Silu",
}  # fmt: skip
"""Layers, and operations between them, that NNS counts no FLOPs for: their memory is that of their outputs."""

GATES = {"SimpleRNNCell": 1, "LSTMCell": 4, "GRUCell": 3}


def work(layer: Any, reads: Sequence[Shape], gives: Sequence[Shape]) -> Work:
    """What a layer costs; a model is all that its layers cost.

    Raises:
        Unsupported: it has no rule, or a size of it is open.
    """
    if inside := calls(layer):
        return sum((work(node.operation, *shapes(node)) for node in inside), Work(0, 0))
    for shape in (*reads, *gives):
        if any(size is None for size in shape):
            raise Unsupported(f"a size of it is open: {shape}; build the model with that size")
    name = _kind(layer)
    if name in RULES:
        return RULES[name](layer, reads, gives)
    if name in FREE:
        return Work(0, sum(map(prod, gives)))
    raise Unsupported(f"there is no rule for {type(layer).__name__}")


def calls(layer: Any) -> list[Any]:
    """Calls of a model's layers, in order, from the graph that Keras keeps of them; none of another layer."""
    functional = getattr(layer, "_functional", None) or layer
    depths = getattr(functional, "_nodes_by_depth", None) or {}
    return [node for depth in sorted(depths, reverse=True) for node in depths[depth]]


def shapes(node: Any) -> tuple[list[Shape], list[Shape]]:
    """What a call reads and gives, batch left out."""
    reads, gives = ([tuple(tensor.shape[1:]) for tensor in some] for some in (node.input_tensors, node.outputs))
    return reads, gives


def _kind(layer: Any) -> str:
    """The class of Keras that a layer is of; one that calls something of its own is of none."""
    kind = type(layer)
    while not kind.__module__.startswith("keras.") and "call" not in vars(kind) and kind.__bases__:
        kind = kind.__bases__[0]
    return kind.__name__ if kind.__module__.startswith("keras.") else ""


def _outputs(layer: Any, gives: Sequence[Shape]) -> int:
    """Elements of the outputs, twice where an activation that is not linear follows."""
    function = getattr(layer, "activation", None)
    return sum(map(prod, gives)) * (1 if function is None or function.__name__ == "linear" else 2)


def _dense(layer: Any, reads: Sequence[Shape], gives: Sequence[Shape]) -> Work:
    return Work(prod(gives[0]) * reads[0][-1], _outputs(layer, gives))


def _positions(layer: Any, shape: Shape) -> int:
    """Pixels of an image."""
    return prod(shape[1:] if layer.data_format == "channels_first" else shape[:-1])


def _channels(layer: Any, shape: Shape) -> int:
    return shape[0 if layer.data_format == "channels_first" else -1]


def _conv(layer: Any, reads: Sequence[Shape], gives: Sequence[Shape]) -> Work:
    taps = prod(layer.kernel_size) * _channels(layer, reads[0]) // getattr(layer, "groups", 1)
    return Work(prod(gives[0]) * taps, _outputs(layer, gives))


def _conv_transpose(layer: Any, reads: Sequence[Shape], gives: Sequence[Shape]) -> Work:
    return Work(prod(reads[0]) * prod(layer.kernel_size) * layer.filters, _outputs(layer, gives))


def _depthwise(layer: Any, reads: Sequence[Shape], gives: Sequence[Shape]) -> Work:
    return Work(prod(gives[0]) * prod(layer.kernel_size), _outputs(layer, gives))


def _separable(layer: Any, reads: Sequence[Shape], gives: Sequence[Shape]) -> Work:
    """A depthwise convolution, and one of single pixels on what it gives."""
    between = _positions(layer, gives[0]) * _channels(layer, reads[0]) * layer.depth_multiplier
    return Work(between * prod(layer.kernel_size) + between * layer.filters, between + _outputs(layer, gives))


def _recurrent(layer: Any, reads: Sequence[Shape], gives: Sequence[Shape]) -> Work:
    """Each cell reads what the one below gives, in every step."""
    steps, width = reads[0]
    found = Work(0, 0)
    for cell in getattr(layer.cell, "cells", [layer.cell]):
        gates = GATES.get(_kind(cell))
        if gates is None:
            raise Unsupported(f"there is no rule for the cell {type(cell).__name__}")
        found += Work(steps * gates * cell.units * (width + cell.units), steps * cell.units)
        width = cell.units
    return found


def _bidirectional(layer: Any, reads: Sequence[Shape], gives: Sequence[Shape]) -> Work:
    return work(layer.forward_layer, reads, gives) + work(layer.backward_layer, reads, gives)


def _time_distributed(layer: Any, reads: Sequence[Shape], gives: Sequence[Shape]) -> Work:
    """The layer inside, on each step."""
    inside = work(layer.layer, [shape[1:] for shape in reads], [shape[1:] for shape in gives])
    return inside.times(reads[0][0])


def _multi_head_attention(layer: Any, reads: Sequence[Shape], gives: Sequence[Shape]) -> Work:
    """Four projections, the scores, and the sums of values by them; query, value, and key where it is not the value."""
    query, value = reads[0], reads[1]
    key = reads[2] if len(reads) > 2 else value
    tokens, keys, heads = query[0], value[0], layer.num_heads
    of_key, of_value = layer.key_dim, layer.value_dim
    projections = (
        tokens * query[-1] * heads * of_key
        + keys * (key[-1] * heads * of_key + value[-1] * heads * of_value)
        + tokens * heads * of_value * gives[0][-1]
    )
    inside = heads * (tokens * of_key + keys * (of_key + of_value) + tokens * keys + tokens * of_value)
    return Work(projections + heads * tokens * keys * (of_key + of_value), inside + sum(map(prod, gives)))


RULES: dict[str, Rule] = {
    "Dense": _dense,
    **dict.fromkeys(("Conv1D", "Conv2D", "Conv3D"), _conv),
    **dict.fromkeys(("Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"), _conv_transpose),
    **dict.fromkeys(("DepthwiseConv1D", "DepthwiseConv2D"), _depthwise),
    **dict.fromkeys(("SeparableConv1D", "SeparableConv2D"), _separable),
    **dict.fromkeys(("SimpleRNN", "LSTM", "GRU", "RNN"), _recurrent),
    "Bidirectional": _bidirectional,
    "TimeDistributed": _time_distributed,
    "MultiHeadAttention": _multi_head_attention,
    "InputLayer": lambda layer, reads, gives: Work(0, 0),
}
"""By the name of the class."""

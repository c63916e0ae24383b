"""The canonical families in Keras: the networks of `torch_families`, with the same weights; images are channels last.

Each function is a factory: it returns a functional model, and an example input at batch 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from neural_cost.models.weights import CLASSES, EPSILON, HEADS, INNER, STEPS, WIDTH, Array, Weights, draw, example

Family: TypeAlias = tuple[Any, Array]
GRU_GATES = (1, 0, 2)  # Keras has the update gate first


def dnn() -> Family:
    """Return the feed-forward network."""
    from keras import Input, Model, layers

    x = inputs = Input((784,))
    for name in ("hidden1", "hidden2"):
        x = layers.Dense(WIDTH, activation="relu", name=f"{name}.dense")(x)
        x = layers.LayerNormalization(epsilon=EPSILON, name=f"{name}.norm")(x)
    x = layers.Dense(CLASSES, name="classifier")(x)
    return _filled(Model(inputs, x), "dnn")


def cnn() -> Family:
    """Return the convolutional network, for 32x32 images of 3 channels."""
    from keras import Input, Model, layers

    def block(name: str, channels: int, x: Any) -> Any:
        x = layers.Conv2D(channels, 3, padding="same", name=f"{name}.conv")(x)
        x = layers.BatchNormalization(epsilon=EPSILON, name=f"{name}.norm")(x)
        return layers.ReLU(name=f"{name}.relu")(x)

    inputs = Input((32, 32, 3))
    x = layers.MaxPooling2D(2, name="pool")(block("block1", 64, inputs))
    x = layers.GlobalAveragePooling2D(name="global_pool")(block("block2", 128, x))
    return _filled(Model(inputs, layers.Dense(CLASSES, name="classifier")(x)), "cnn")


def rnn() -> Family:
    """Return the network of plain tanh cells."""
    from keras import layers

    return _recurrent("rnn", lambda **options: layers.SimpleRNN(WIDTH, **options))


def lstm() -> Family:
    """Return the network of LSTM cells."""
    from keras import layers

    return _recurrent("lstm", lambda **options: layers.LSTM(WIDTH, **options))


def gru() -> Family:
    """Return the network of GRU cells, whose reset gate works on the product."""
    from keras import layers

    return _recurrent("gru", lambda **options: layers.GRU(WIDTH, reset_after=True, **options))


def bilstm() -> Family:
    """Return the network of LSTM cells in both directions."""
    from keras import layers

    def both(name: str, **options: Any) -> Any:
        return layers.Bidirectional(layers.LSTM(WIDTH, **options), name=name)

    return _recurrent("bilstm", both)


def transformer() -> Family:
    """Return the Transformer encoder."""
    from keras import Input, Model, layers

    x = inputs = Input((STEPS, WIDTH))
    for name in ("encoder.layers.0", "encoder.layers.1"):
        attended = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, name=f"{name}.self_attn")(x, x)
        x = layers.LayerNormalization(epsilon=EPSILON, name=f"{name}.norm1")(layers.add([x, attended]))
        inner = layers.Dense(INNER, activation="relu", name=f"{name}.linear1")(x)
        inner = layers.Dense(WIDTH, name=f"{name}.linear2")(inner)
        x = layers.LayerNormalization(epsilon=EPSILON, name=f"{name}.norm2")(layers.add([x, inner]))
    x = layers.GlobalAveragePooling1D(name="mean")(x)
    return _filled(Model(inputs, layers.Dense(CLASSES, name="classifier")(x)), "transformer")


def carry(model: Any, family: str, weights: Weights) -> None:
    """Put weights of PyTorch's names and layouts into a family's model."""
    for layer in model.layers:
        if layer.weights:
            layer.set_weights(_layer_weights(layer.name, family, weights))


def _recurrent(family: str, layer: Callable[..., Any]) -> Family:
    from keras import Input, Model, layers

    x = inputs = Input((STEPS, WIDTH))
    for index in range(2):
        x = layer(use_bias=False, return_sequences=True, name=f"recurrent.l{index}")(x)
    return _filled(Model(inputs, layers.Dense(CLASSES, name="classifier")(x[:, -1])), family)


def _filled(model: Any, family: str) -> Family:
    carry(model, family, draw(family))
    inputs = example(family)
    return model, np.moveaxis(inputs, 1, -1).copy() if family == "cnn" else inputs


def _layer_weights(name: str, family: str, weights: Weights) -> list[Array]:
    """Weights of one layer, in Keras's order."""
    prefix, _, kind = name.rpartition(".")
    if kind in {"l0", "l1"}:
        return [
            _gates(weights[f"{prefix}.weight_{part}_{kind}{direction}"], family).T
            for direction in (("", "_reverse") if family == "bilstm" else ("",))
            for part in ("ih", "hh")
        ]
    if kind == "self_attn":
        return _attention(name, weights)
    order = ("weight", "bias", "running_mean", "running_var")
    found = [weights[f"{name}.{part}"] for part in order if f"{name}.{part}" in weights]
    return [_kernel(array) for array in found]


def _kernel(array: Array) -> Array:
    """Output last: (out, in) as (in, out), (out, in, height, width) as (height, width, in, out)."""
    return array.transpose(2, 3, 1, 0) if array.ndim == 4 else array.T


def _gates(array: Array, family: str) -> Array:
    if family != "gru":
        return array
    return np.concatenate([np.split(array, 3)[gate] for gate in GRU_GATES])


def _attention(name: str, weights: Weights) -> list[Array]:
    """Kernel and bias of query, key, value and output, with the heads as an axis of their own."""
    size = WIDTH // HEADS
    found: list[Array] = []
    stacked = zip(
        np.split(weights[f"{name}.in_proj_weight"], 3), np.split(weights[f"{name}.in_proj_bias"], 3), strict=True
    )
    for kernel, bias in stacked:
        found += [kernel.T.reshape(WIDTH, HEADS, size), bias.reshape(HEADS, size)]
    out = weights[f"{name}.out_proj.weight"].T.reshape(HEADS, size, WIDTH)
    return [*found, out, weights[f"{name}.out_proj.bias"]]

"""Weights of the canonical families, drawn once for all frameworks, under PyTorch's names and layouts.

A dense layer's `weight` is (out, in), a convolution's (out, in, height, width); recurrent layers stack their gates as
PyTorch does: input, forget, cell, output of an LSTM, and reset, update, new of a GRU.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from math import prod
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray[Any, Any]"
Weights: TypeAlias = dict[str, Array]
Shapes: TypeAlias = Iterator[tuple[str, tuple[int, ...]]]

CLASSES = 10
WIDTH = 128
STEPS = 32
HEADS = 4
INNER = 512
EPSILON = 1e-5  # of every normalization
EXAMPLE_BATCH = 2  # an exporter takes an example batch of 1 for a constant
INPUTS = {"dnn": (784,), "cnn": (3, 32, 32)}
GATES = {"rnn": 1, "gru": 3, "lstm": 4, "bilstm": 4}


def draw(family: str) -> Weights:
    """Return the weights of a family: the same every time, and no two alike, as exporters merge equal tensors."""
    random = np.random.default_rng(zlib.crc32(family.encode()))
    return {name: _values(name, shape, random).astype(np.float32) for name, shape in _shapes(family)}


def example(family: str) -> Array:
    """Return an example input, channels first."""
    shape = INPUTS.get(family, (STEPS, WIDTH))
    return np.random.default_rng(0).standard_normal((EXAMPLE_BATCH, *shape)).astype(np.float32)


def _values(name: str, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Matrices keep the variance of what goes through; norms and variances lie about 1, biases about 0."""
    normal = random.standard_normal(shape)
    if len(shape) > 1:
        return np.asarray(normal / np.sqrt(prod(shape[1:])))
    about_one = "norm" in name and name.endswith((".weight", ".running_var"))
    return np.asarray(float(about_one) + np.clip(normal, -3, 3) * 0.05)


def _shapes(family: str) -> Shapes:
    match family:
        case "dnn":
            yield from _hidden("hidden1", 784)
            yield from _hidden("hidden2", WIDTH)
            yield from _dense("classifier", WIDTH, CLASSES)
        case "cnn":
            yield from _block("block1", 3, 64)
            yield from _block("block2", 64, 128)
            yield from _dense("classifier", 128, CLASSES)
        case "transformer":
            for index in range(2):
                yield from _encoder_layer(f"encoder.layers.{index}")
            yield from _dense("classifier", WIDTH, CLASSES)
        case _:
            directions = ("", "_reverse") if family == "bilstm" else ("",)
            for layer in range(2):
                width = WIDTH * len(directions) if layer else WIDTH
                for direction in directions:
                    yield f"recurrent.weight_ih_l{layer}{direction}", (GATES[family] * WIDTH, width)
                    yield f"recurrent.weight_hh_l{layer}{direction}", (GATES[family] * WIDTH, WIDTH)
            yield from _dense("classifier", WIDTH * len(directions), CLASSES)


def _dense(name: str, width_in: int, width: int) -> Shapes:
    yield f"{name}.weight", (width, width_in)
    yield f"{name}.bias", (width,)


def _norm(name: str, width: int) -> Shapes:
    yield f"{name}.weight", (width,)
    yield f"{name}.bias", (width,)


def _hidden(name: str, width_in: int) -> Shapes:
    yield from _dense(f"{name}.dense", width_in, WIDTH)
    yield from _norm(f"{name}.norm", WIDTH)


def _block(name: str, channels_in: int, channels: int) -> Shapes:
    yield f"{name}.conv.weight", (channels, channels_in, 3, 3)
    yield f"{name}.conv.bias", (channels,)
    yield from _norm(f"{name}.norm", channels)
    yield f"{name}.norm.running_mean", (channels,)
    yield f"{name}.norm.running_var", (channels,)


def _encoder_layer(name: str) -> Shapes:
    yield f"{name}.self_attn.in_proj_weight", (3 * WIDTH, WIDTH)
    yield f"{name}.self_attn.in_proj_bias", (3 * WIDTH,)
    yield from _dense(f"{name}.self_attn.out_proj", WIDTH, WIDTH)
    yield from _dense(f"{name}.linear1", WIDTH, INNER)
    yield from _dense(f"{name}.linear2", INNER, WIDTH)
    yield from _norm(f"{name}.norm1", WIDTH)
    yield from _norm(f"{name}.norm2", WIDTH)

"""The canonical families in JAX, as Flax NNX modules: the networks of `torch_families`, with the same weights.

Each function is a factory: it returns a module in eval mode, and an example input at batch 2. Images are channels last.
Recurrent layers are `lax.scan` over a cell: the cells of Flax have biases, and `nnx.RNN` cannot be exported.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from neural_cost.models.jax_cells import directions, recurrent_layer
from neural_cost.models.weights import CLASSES, EPSILON, GATES, HEADS, INNER, WIDTH, Array, Weights, draw, example

Family: TypeAlias = tuple[Any, Any]
PARAMETERS = {"kernel": "weight", "scale": "weight", "mean": "running_mean", "var": "running_var"}  # NNX: torch


def dnn() -> Family:
    """Return the feed-forward network."""
    from flax import nnx

    rngs = nnx.Rngs(0)

    class Hidden(nnx.Module):  # type: ignore[misc]  # flax is not read by the type checker
        def __init__(self, width_in: int) -> None:
            self.dense = nnx.Linear(width_in, WIDTH, rngs=rngs)
            self.norm = nnx.LayerNorm(WIDTH, epsilon=EPSILON, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.norm(nnx.relu(self.dense(x)))

    class Dnn(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            self.hidden1, self.hidden2 = Hidden(784), Hidden(WIDTH)
            self.classifier = nnx.Linear(WIDTH, CLASSES, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.classifier(self.hidden2(self.hidden1(x)))

    return _filled("dnn", Dnn())


def cnn() -> Family:
    """Return the convolutional network, for 32x32 images of 3 channels."""
    from flax import nnx

    rngs = nnx.Rngs(0)

    class Block(nnx.Module):  # type: ignore[misc]
        def __init__(self, channels_in: int, channels: int) -> None:
            self.conv = nnx.Conv(channels_in, channels, (3, 3), padding="SAME", rngs=rngs)
            self.norm = nnx.BatchNorm(channels, epsilon=EPSILON, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return nnx.relu(self.norm(self.conv(x)))

    class Cnn(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            self.block1, self.block2 = Block(3, 64), Block(64, 128)
            self.classifier = nnx.Linear(128, CLASSES, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = nnx.max_pool(self.block1(x), window_shape=(2, 2), strides=(2, 2))
            return self.classifier(self.block2(x).mean(axis=(1, 2)))

    return _filled("cnn", Cnn())


def rnn() -> Family:
    """Return the network of plain tanh cells."""
    return _last_step("rnn")


def lstm() -> Family:
    """Return the network of LSTM cells."""
    return _last_step("lstm")


def gru() -> Family:
    """Return the network of GRU cells, whose reset gate works on the product."""
    return _last_step("gru")


def bilstm() -> Family:
    """Return the network of LSTM cells in both directions."""
    return _last_step("bilstm")


def transformer() -> Family:
    """Return the Transformer encoder."""
    from flax import nnx

    rngs = nnx.Rngs(0)
    list_of = getattr(nnx, "List", list)  # Flax below 0.12, for JAX below 0.7, takes any list

    class Layer(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            self.self_attn = nnx.MultiHeadAttention(HEADS, WIDTH, decode=False, rngs=rngs)
            self.linear1 = nnx.Linear(WIDTH, INNER, rngs=rngs)
            self.linear2 = nnx.Linear(INNER, WIDTH, rngs=rngs)
            self.norm1 = nnx.LayerNorm(WIDTH, epsilon=EPSILON, rngs=rngs)
            self.norm2 = nnx.LayerNorm(WIDTH, epsilon=EPSILON, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = self.norm1(x + self.self_attn(x))
            return self.norm2(x + self.linear2(nnx.relu(self.linear1(x))))

    class Encoder(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            self.layers = list_of([Layer(), Layer()])

    class MeanClassifier(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            self.encoder = Encoder()
            self.classifier = nnx.Linear(WIDTH, CLASSES, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            for layer in self.encoder.layers:
                x = layer(x)
            return self.classifier(x.mean(axis=1))

    return _filled("transformer", MeanClassifier())


def carry(model: Any, weights: Weights) -> None:
    """Put weights of PyTorch's names and layouts into a family's module."""
    import jax.numpy as jnp
    from flax import nnx

    state = nnx.state(model, nnx.Any(nnx.Param, nnx.BatchStat))
    filled = [
        (path, variable.replace(jnp.asarray(_array(tuple(map(str, path)), weights))))
        for path, variable in nnx.to_flat_state(state)
    ]
    nnx.update(model, nnx.from_flat_state(filled))


def _last_step(family: str) -> Family:
    from flax import nnx

    rngs = nnx.Rngs(0)

    class Recurrent(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            for layer in range(2):
                width = WIDTH * len(directions(family)) if layer else WIDTH
                for direction in directions(family):
                    for part, rows in (("ih", width), ("hh", WIDTH)):
                        kernel = nnx.initializers.orthogonal()(rngs.params(), (rows, GATES[family] * WIDTH))
                        setattr(self, f"weight_{part}_l{layer}{direction}", nnx.Param(kernel))

        def __call__(self, x: Any) -> Any:
            for layer in range(2):
                x = recurrent_layer(family, x, self._kernel, layer)
            return x

        def _kernel(self, end: str) -> Any:
            return getattr(self, f"weight_{end}")

    class LastStepClassifier(nnx.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            self.recurrent = Recurrent()
            self.classifier = nnx.Linear(WIDTH * len(directions(family)), CLASSES, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.classifier(self.recurrent(x)[:, -1])

    return _filled(family, LastStepClassifier())


def _filled(family: str, model: Any) -> Family:
    carry(model, draw(family))
    model.eval()
    inputs = example(family)
    return model, np.moveaxis(inputs, 1, -1).copy() if family == "cnn" else inputs


def _array(path: tuple[str, ...], weights: Weights) -> Array:
    *parts, last = path
    if len(parts) > 1 and parts[-2] == "self_attn":
        return _attention(".".join(parts[:-1]), parts[-1], last, weights)
    array = weights[".".join([*parts, PARAMETERS.get(last, last)])]
    return array.transpose(2, 3, 1, 0) if array.ndim == 4 else array.T


def _attention(name: str, part: str, last: str, weights: Weights) -> Array:
    """Kernel or bias of query, key, value or output, with the heads as an axis of their own."""
    size = WIDTH // HEADS
    if part == "out":
        kernel = weights[f"{name}.out_proj.weight"].T.reshape(HEADS, size, WIDTH)
        return kernel if last == "kernel" else weights[f"{name}.out_proj.bias"]
    index = ("query", "key", "value").index(part)
    if last == "kernel":
        return np.split(weights[f"{name}.in_proj_weight"], 3)[index].T.reshape(WIDTH, HEADS, size)
    return np.split(weights[f"{name}.in_proj_bias"], 3)[index].reshape(HEADS, size)

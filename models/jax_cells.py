"""Recurrent layers in JAX: `lax.scan` over a cell without biases; gates in PyTorch's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neural_cost.models.weights import WIDTH

STATES = {"lstm": 2, "bilstm": 2}  # hidden and cell; the others have the hidden state alone


def directions(family: str) -> tuple[str, ...]:
    """Endings of the names of weights, one for each direction."""
    return ("", "_reverse") if family == "bilstm" else ("",)


def recurrent_layer(family: str, x: Any, kernel: Callable[[str], Any], layer: int) -> Any:
    """Run one layer over (batch, steps, width); `kernel` finds a weight by the end of its name."""
    import jax.numpy as jnp

    found = []
    for direction in directions(family):
        ends = (f"ih_l{layer}{direction}", f"hh_l{layer}{direction}")
        steps = jnp.flip(x, 1) if direction else x  # scan(reverse=True) cannot be exported
        out = _scan(family, steps, *(kernel(end)[...] for end in ends))
        found.append(jnp.flip(out, 1) if direction else out)
    return jnp.concatenate(found, -1)


def _scan(family: str, x: Any, kernel: Any, recurrent: Any) -> Any:
    import jax.numpy as jnp
    from jax import lax

    zeros = jnp.zeros((x.shape[0], WIDTH), x.dtype)

    def step(state: Any, x_now: Any) -> tuple[Any, Any]:
        new = CELLS[family](x_now @ kernel, state[0] @ recurrent, state)
        return new, new[0]

    _, out = lax.scan(step, (zeros,) * STATES.get(family, 1), jnp.swapaxes(x, 0, 1))
    return jnp.swapaxes(out, 0, 1)


def _tanh(x: Any, h: Any, _state: Any) -> Any:
    import jax.numpy as jnp

    return (jnp.tanh(x + h),)


def _lstm(x: Any, h: Any, state: Any) -> Any:
    import jax.numpy as jnp
    from jax.nn import sigmoid

    into, forget, cell, out = jnp.split(x + h, 4, -1)
    memory = sigmoid(forget) * state[1] + sigmoid(into) * jnp.tanh(cell)
    return sigmoid(out) * jnp.tanh(memory), memory


def _gru(x: Any, h: Any, state: Any) -> Any:
    import jax.numpy as jnp
    from jax.nn import sigmoid

    (x_reset, x_update, x_new), (h_reset, h_update, h_new) = jnp.split(x, 3, -1), jnp.split(h, 3, -1)
    update = sigmoid(x_update + h_update)
    new = jnp.tanh(x_new + sigmoid(x_reset + h_reset) * h_new)
    return ((1 - update) * new + update * state[0],)


CELLS: dict[str, Callable[[Any, Any, Any], Any]] = {"rnn": _tanh, "lstm": _lstm, "bilstm": _lstm, "gru": _gru}

"""The families by name and framework: `zoo:transformer@torch`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

FAMILIES = ("dnn", "cnn", "rnn", "lstm", "gru", "bilstm", "transformer")
FRAMEWORKS = {"torch": "torch_families", "keras": "keras_families", "jax": "jax_families"}


def family(name: str, framework: str = "torch") -> tuple[Any, Any]:
    """Build a family: the model, with the same weights every time and in every framework, and example inputs.

    Raises:
        KeyError: there is no such family or framework; the message lists those that there are.
        ImportError: the framework is not installed.
    """
    if name not in FAMILIES:
        raise KeyError(f'no family is named "{name}": choose one of {", ".join(FAMILIES)}')
    if framework not in FRAMEWORKS:
        raise KeyError(f'no family is written in "{framework}": choose one of {", ".join(FRAMEWORKS)}')
    module = import_module(f"neural_cost.models.{FRAMEWORKS[framework]}")
    made: tuple[Any, Any] = getattr(module, name)()
    return made

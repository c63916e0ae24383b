"""Adapters: a framework's model as operations, timed and traced in its framework. Names load on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neural_cost.adapters.jax import JaxAdapter as JaxAdapter
    from neural_cost.adapters.protocol import FrameworkAdapter as FrameworkAdapter
    from neural_cost.adapters.tensorflow import TensorFlowAdapter as TensorFlowAdapter
    from neural_cost.adapters.torch import TorchAdapter as TorchAdapter
    from neural_cost.adapters.trace import Trace as Trace

_HOMES = {
    "FrameworkAdapter": "protocol",
    "TorchAdapter": "torch",
    "TensorFlowAdapter": "tensorflow",
    "JaxAdapter": "jax",
    "Trace": "trace",
}

__all__ = ["FrameworkAdapter", "JaxAdapter", "TensorFlowAdapter", "TorchAdapter", "Trace"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""Backward rules: one module per family of operators."""

from __future__ import annotations

from functools import cache
from importlib import import_module

FAMILIES = (
    "activations",
    "attention",
    "constant",
    "contrib",
    "contrib_attention",
    "contrib_normalization",
    "contrib_products",
    "convolution",
    "elementwise",
    "indexing",
    "linear",
    "linear_attention",
    "loss",
    "matrices",
    "mixture_of_experts",
    "movement",
    "normalization",
    "pooling",
    "products",
    "quantization",
    "recurrent",
    "reduction",
    "weight_only",
)


@cache
def load() -> None:
    """Register the rules of every family."""
    for family in FAMILIES:
        import_module(f"{__name__}.{family}")

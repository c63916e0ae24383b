"""Cost rules: one module per family of operators."""

from __future__ import annotations

from functools import cache
from importlib import import_module

FAMILIES = (
    "attention",
    "contraction",
    "convolution",
    "elementwise",
    "generation",
    "indexing",
    "movement",
    "normalization",
    "pooling",
    "quantization",
    "quantized_contraction",
    "recurrent",
    "reduction",
    "sampling",
    "softmax",
    "sorting",
    "views",
)


@cache
def load() -> None:
    """Import every family, which registers its rules."""
    for family in FAMILIES:
        import_module(f"{__name__}.{family}")

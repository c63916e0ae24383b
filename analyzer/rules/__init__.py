"""Cost rules: one module per family of operators."""

from __future__ import annotations

from functools import cache
from importlib import import_module

FAMILIES = (
    "attention",
    "contraction",
    "contrib_attention",
    "contrib_contraction",
    "contrib_convolution",
    "contrib_recurrent",
    "convolution",
    "elementwise",
    "generation",
    "grouped_attention",
    "indexing",
    "linear_attention",
    "mixture_of_experts",
    "movement",
    "normalization",
    "pooling",
    "quantization",
    "quantized_attention",
    "quantized_contraction",
    "recurrent",
    "reduction",
    "sampling",
    "softmax",
    "sorting",
    "sparse_attention",
    "views",
    "weight_only",
)


@cache
def load() -> None:
    """Import every family, which registers its rules."""
    for family in FAMILIES:
        import_module(f"{__name__}.{family}")

"""Cost rules: one module per family of operators."""

from __future__ import annotations

from functools import cache
from importlib import import_module

FAMILIES = (
    "attention",
    "classic_models",
    "contraction",
    "contrib_attention",
    "contrib_contraction",
    "contrib_convolution",
    "contrib_elementwise",
    "contrib_normalization",
    "contrib_recurrent",
    "convolution",
    "elementwise",
    "features",
    "generation",
    "grouped_attention",
    "hashing",
    "indexing",
    "linear_attention",
    "loss",
    "matrices",
    "mixture_of_experts",
    "movement",
    "normalization",
    "opaque",
    "optimizers",
    "pooling",
    "quantization",
    "quantized_attention",
    "quantized_contraction",
    "quantized_elementwise",
    "recurrent",
    "reduction",
    "rotary",
    "sampling",
    "sequences",
    "signal",
    "softmax",
    "sorting",
    "sparse_attention",
    "trees",
    "views",
    "weight_only",
)


@cache
def load() -> None:
    """Import every family, which registers its rules."""
    for family in FAMILIES:
        import_module(f"{__name__}.{family}")

"""What onnx_shape_inference lacks or has wrong, mended through its registry; tests tell when upstream has it."""

from neural_cost.analyzer.shape_mends.context import Context, TooManySymbols, is_long
from neural_cost.analyzer.shape_mends.registry import MENDS, install, upstream

__all__ = ["MENDS", "Context", "TooManySymbols", "install", "is_long", "upstream"]

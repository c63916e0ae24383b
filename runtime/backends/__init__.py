"""Ways to run a model: its framework's own, and ONNX Runtime's levels."""

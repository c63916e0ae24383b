"""Timing kernels of ONNX Runtime by themselves, over sizes: what a prediction is made of."""

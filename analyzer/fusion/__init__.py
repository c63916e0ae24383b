"""Which nodes of a file share a kernel, when no run has said so: what ONNX Runtime fuses on a CPU at level "all"."""

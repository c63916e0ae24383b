"""Static analysis: an ONNX file in, the cost of each node out. Imports no framework and no onnxruntime."""

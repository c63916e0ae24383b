"""The canonical families: small ONNX files, and the scripts that make them."""

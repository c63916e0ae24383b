"""Exporters: a framework's model in, a checked ONNX file out. One file per framework."""

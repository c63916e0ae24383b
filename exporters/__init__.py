"""A framework's model to a checked ONNX file: one class per framework, one protocol.

`protocol` says what an exporter is, `registry` finds the one for a model, `export` drives it, `parity` compares its
file with the model. Frameworks are imported inside functions: each is an extra.
"""

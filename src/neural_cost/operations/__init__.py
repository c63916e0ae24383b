"""Operations: portable records of what a model computes, each costed by the rule of an ONNX operator."""

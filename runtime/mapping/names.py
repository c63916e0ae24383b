"""Names that ONNX Runtime's rewrites give, and what they tell."""

from __future__ import annotations

import re

# what a blocked convolution or pooling is called: after the tensor that it made before it was blocked
BLOCKED = re.compile(r"(?P<tensor>.+?)(_bn|_mul)?_nchwc(_token_\d+)?")
# a copy of a tensor, or of a node, beside the one that has the name; or what is in the body of a SequenceMap
COPY = re.compile(
    r"(?:Inserted(?:PrecisionFree)?Cast_|_inlfunc_SequenceMap_)?(?P<name>.+?)(?:/duplicated)?(?:_token_\d+)?"
)
FUSED = {"FusedConv": "Conv", "FusedMatMul": "MatMul", "FusedGemm": "Gemm", "QGemm": "Gemm", "NhwcMaxPool": "MaxPool"}


def kind_of(op_type: str) -> str:
    """The operator of the file that a kernel's operator is a variant of."""
    return FUSED.get(op_type, op_type.removeprefix("QLinear"))


def original(name: str) -> str:
    """The name that another was made from; itself where it was not."""
    found = COPY.fullmatch(name)
    return found["name"] if found else name

"""Which operators share memory: what ONNX Runtime 1.32 does on a CPU, found by running each (benchmarks/memory.py).

A view hands on the memory of its first input. An operator that overwrites may write its output over inputs that
nothing needs after it: activations, Softmax, Clip and Cast do so as they stand; other elementwise operators and a
BatchNormalization only where ONNX Runtime fuses them into the kernel before them, so it *may* be done.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from neural_cost.analyzer.rules.registry import lookup

VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "BitCast", "Optional", "OptionalGetElement"}
ELEMENTWISE = {"elementwise", "contrib_elementwise", "quantized_elementwise"}
OTHERS = {"BatchNormalization", "ScatterND"}
IN_PLACE = {
    "Relu", "LeakyRelu", "Elu", "Selu", "Celu", "Sigmoid", "HardSigmoid", "Tanh", "Softplus", "Softsign",
    "ThresholdedRelu", "Clip", "Softmax", "LogSoftmax", "Cast", "ScatterElements", "Trilu",
}  # fmt: skip
SUMS = {"Add", "Sum"}
CONVOLUTIONS = {"Conv", "FusedConv"}
QUANTIZES = "DynamicQuantizeLinear"
QUANTIZED_PRODUCTS = {"MatMulInteger", "ConvInteger"}  # ONNX Runtime fuses the two: DynamicQuantizeMatMul


def is_in_place(domain: str, op_type: str) -> bool:
    """Whether ONNX Runtime writes its output over its first input, where that dies and is of the same size."""
    return domain == "" and op_type in IN_PLACE


def is_view(domain: str, op_type: str) -> bool:
    """Whether its first output lies in the memory of its first input."""
    return (domain == "" and op_type in VIEWS) or (domain == "com.microsoft" and op_type == "ExpandDims")


@cache
def overwrites(domain: str, op_type: str, version: int) -> bool:
    """Whether it may write its output over its inputs."""
    if is_in_place(domain, op_type):
        return True
    if domain == "" and op_type in OTHERS:
        return True
    rule = lookup(domain, op_type, version)
    return rule is not None and rule.kind in ELEMENTWISE


class Traits(NamedTuple):
    """How an operator shares memory.

    Attributes:
        view: its first output lies in the memory of its first input.
        overwrites: it may write its output over inputs that nothing needs after it.
        in_place: it does so in ONNX Runtime, over its first input, even if nothing is fused.
        adds: it adds tensors up, and a convolution before it may do so in its place.
        convolves: it may add its result to a tensor that is there already.
        quantizes, multiplies: it quantizes activations; it may do that itself, before it multiplies.
    """

    view: bool = False
    overwrites: bool = False
    in_place: bool = False
    adds: bool = False
    convolves: bool = False
    quantizes: bool = False
    multiplies: bool = False

    @property
    def without_view(self) -> Traits:
        """The same where it is no view: of a weight, or with more than one output."""
        return self._replace(view=False) if self.view else self


NO_TRAITS = Traits()


def traits(domain: str, op_type: str, version: int) -> Traits:
    """How an operator shares memory."""
    return Traits(
        view=is_view(domain, op_type),
        overwrites=overwrites(domain, op_type, version),
        in_place=is_in_place(domain, op_type),
        adds=op_type in SUMS,
        convolves=op_type in CONVOLUTIONS,
        quantizes=op_type == QUANTIZES,
        multiplies=op_type in QUANTIZED_PRODUCTS,
    )

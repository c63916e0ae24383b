"""What one element of an activation function costs, shared by every operator that has such a function inside.

Registers no rules: the elementwise operators and the fused ones read this table, so that fusing changes no count.
"""

from __future__ import annotations

from typing import NamedTuple

from neural_cost.analyzer.node import Unknown


class PerElement(NamedTuple):
    """FLOPs of one element, and how many of them are transcendental."""

    flops: int
    special: int = 0

    def __add__(self, other: object) -> PerElement:
        """Add the work of another step on the same element, not the tuples."""
        if not isinstance(other, PerElement):
            return NotImplemented
        return PerElement(self.flops + other.flops, self.special + other.special)


ACTIVATIONS = {
    "relu": PerElement(1),  # max(x, 0)
    "tanh": PerElement(1, 1),
    "sigmoid": PerElement(3, 2),  # e / (e + 1) of e = exp(x): exp, add, divide
    "affine": PerElement(2),  # alpha * x + beta
    "leakyrelu": PerElement(2),  # compare, alpha * x
    "thresholdedrelu": PerElement(1),  # compare
    "scaledtanh": PerElement(3, 1),  # alpha * tanh(beta * x)
    "hardsigmoid": PerElement(4),  # max(0, min(1, alpha * x + beta))
    "elu": PerElement(4, 1),  # compare, alpha * (exp(x) - 1)
    "softsign": PerElement(3, 1),  # x / (1 + |x|): absolute, add, divide
    "softplus": PerElement(3, 2),  # log(exp(x) + 1)
    "gelu": PerElement(5, 1),  # 0.5 * x * (1 + erf(x * sqrt(1/2)))
    "fastgelu": PerElement(8, 1),  # 0.5 * x * (1 + tanh(x * (c * x * x + d)))
    "quickgelu": PerElement(5, 2),  # x * sigmoid(alpha * x)
    "silu": PerElement(4, 2),  # x * sigmoid(x)
    "clip": PerElement(2),  # min(max(x, low), high)
    "identity": PerElement(0),
}
"""By name in lower case: ONNX Runtime and exporters spell the names of the recurrent operators in any case."""


def activation(name: str) -> PerElement:
    """Look up an activation by name, in any case. Raises Unknown for a name that has no formula here."""
    found = ACTIVATIONS.get(name.lower())
    if found is None:
        raise Unknown(f"activation {name} has no formula")
    return found


SOFTMAX = PerElement(5, 2)
"""Softmax: max, subtract, exp, sum, divide."""

PRECISIONS = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}
"""Floating-point types that an attribute may ask arithmetic to run in, by their number in TensorProto.DataType."""

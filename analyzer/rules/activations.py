"""What one element of an activation function costs, shared by every operator that has such a function inside.

Registers no rules: the elementwise operators and the fused ones read this table, so that fusing changes no count;
`then` is how a fused operator adds what it does after its contraction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from neural_cost.analyzer.cost import Cost, Dim
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


SOFTMAX = PerElement(5, 2)
"""Softmax: max, subtract, exp, sum, divide."""

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
    "hardswish": PerElement(5),  # x * hardsigmoid(x)
    "relu2": PerElement(2),  # max(x, 0), squared
    "softmax": SOFTMAX,
    "identity": PerElement(0),
}
"""By name in lower case: ONNX Runtime and exporters spell the names in any case."""


ALIASES = {"": "identity", "none": "identity", "noop": "identity", "swish": "silu", "relu_squared": "relu2"}
"""Other names that operators of com.microsoft have for these."""


def activation(name: str) -> PerElement:
    """Look up an activation by name, in any case. Raises Unknown for a name that has no formula here."""
    lower = name.lower()
    found = ACTIVATIONS.get(ALIASES.get(lower, lower))
    if found is None:
        raise Unknown(f"activation {name} has no formula")
    return found


def gated_swish(alpha: float, beta: float, clamps: bool) -> PerElement:
    """Count one element of g * sigmoid(alpha * g) * (l + beta), with g and l clamped first (min; min and max)."""
    swish = ACTIVATIONS["silu" if alpha == 1.0 else "quickgelu"]
    return swish + PerElement(1 + (beta != 0.0) + (3 if clamps else 0))


def then(result: Cost, work: PerElement, elements: Dim) -> Cost:
    """Add the same work on each of so many elements to a cost."""
    return replace(
        result,
        other_flops=result.other_flops + elements * work.flops,
        special_ops=result.special_ops + elements * work.special,
    )


PRECISIONS = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}
"""Floating-point types that an attribute may ask arithmetic to run in, by their number in TensorProto.DataType."""

"""Operators that do the same work for each output element, broadcasting included.

Conventions:

- the work of an element is its formula as ONNX defines it, one FLOP an operation; a constant of the definition
  (sqrt(1/2), 2/pi) is folded, and the sign of an operand comes free inside a formula;
- a select (Where, the branch of a piecewise function) moves data: the comparison counts, the choice does not;
- logical and bitwise operations are one FLOP, in their own type;
- an operator that only copies or selects has traffic and no FLOPs.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import ACTIVATIONS, PerElement, gated_swish
from neural_cost.analyzer.rules.registry import CostRule, cost

ONE = PerElement(1)
SPECIAL = PerElement(1, 1)
UNIFORM = PerElement(1)
"""One pseudo-random number: ONNX fixes no generator, so a draw is one FLOP by convention."""

DROPPING = UNIFORM + PerElement(3)
"""Dropout in training: a draw, a comparison with the ratio, a multiply by the mask and one by the scale."""

NOTHING_TO_DO = PerElement(0)

PER_ELEMENT = {
    # arithmetic
    "Abs": ONE, "Neg": ONE, "Sign": ONE, "Floor": ONE, "Ceil": ONE, "Round": ONE,
    "Add": ONE, "Sub": ONE, "Mul": ONE, "Div": SPECIAL, "Reciprocal": SPECIAL, "Pow": SPECIAL,
    "Mod": SPECIAL,  # the remainder of a division
    # transcendental functions
    "Exp": SPECIAL, "Log": SPECIAL, "Sqrt": SPECIAL, "Erf": SPECIAL,
    "Sin": SPECIAL, "Cos": SPECIAL, "Tan": SPECIAL, "Asin": SPECIAL, "Acos": SPECIAL, "Atan": SPECIAL,
    "Sinh": SPECIAL, "Cosh": SPECIAL, "Tanh": ACTIVATIONS["tanh"], "Asinh": SPECIAL, "Acosh": SPECIAL, "Atanh": SPECIAL,
    # comparisons
    "Equal": ONE, "Greater": ONE, "GreaterOrEqual": ONE, "Less": ONE, "LessOrEqual": ONE, "IsNaN": ONE, "IsInf": ONE,
    # logical and bitwise
    "And": ONE, "Or": ONE, "Xor": ONE, "Not": ONE, "BitShift": ONE,
    "BitwiseAnd": ONE, "BitwiseOr": ONE, "BitwiseXor": ONE, "BitwiseNot": ONE,
    # activations
    "Relu": ACTIVATIONS["relu"], "Sigmoid": ACTIVATIONS["sigmoid"], "HardSigmoid": ACTIVATIONS["hardsigmoid"],
    "LeakyRelu": ACTIVATIONS["leakyrelu"], "PRelu": ACTIVATIONS["leakyrelu"],
    "ThresholdedRelu": ACTIVATIONS["thresholdedrelu"], "Elu": ACTIVATIONS["elu"],
    "Softplus": ACTIVATIONS["softplus"], "Softsign": ACTIVATIONS["softsign"],
    "Selu": ACTIVATIONS["elu"] + ONE,  # gamma * elu(x)
    "Celu": PerElement(7, 1),  # max(0, x) + min(0, alpha * (exp(x / alpha) - 1)), 1 / alpha folded
    "HardSwish": ACTIVATIONS["hardsigmoid"] + ONE,  # x * hardsigmoid(x)
    "Mish": ACTIVATIONS["softplus"] + PerElement(2, 1),  # x * tanh(softplus(x))
    "Shrink": PerElement(3),  # compare with -lambd and with lambd, add or subtract bias
    # selects
    "Where": NOTHING_TO_DO,
}  # fmt: skip
"""What one output element costs, for the operators whose attributes do not change it."""


def per_element(node: Node, work: PerElement, elements: Dim | None = None, other_type: str | None = None) -> Cost:
    """Cost the same work on each of so many elements, by default those of the first output."""
    size = node.y.size if elements is None else elements
    return node.cost(other_flops=size * work.flops, special_ops=size * work.special, other_type=other_type)


def _rule_of(work: PerElement) -> CostRule:
    def rule(node: Node) -> Cost:
        return per_element(node, work)

    return rule


for _op_type, _work in PER_ELEMENT.items():
    cost(_op_type)(_rule_of(_work))


@cost("Sum", "Max", "Min")
def variadic(node: Node) -> Cost:
    """Cost the pairwise combination of n inputs: n - 1 operations for each output element."""
    return per_element(node, PerElement(len(node.inputs) - 1))


@cost("Mean")
def mean(node: Node) -> Cost:
    """Cost the mean of n inputs: n - 1 adds and a division for each output element."""
    return per_element(node, PerElement(len(node.inputs), 1))


@cost("Clip")
def clip(node: Node) -> Cost:
    """Cost one comparison for each bound that is given, as an attribute (before opset 11) or as an input."""
    given = [node.input(1), node.input(2), node.attr("min"), node.attr("max")]
    return per_element(node, PerElement(sum(bound is not None for bound in given)))


@cost("Gelu")
def gelu(node: Node) -> Cost:
    """Cost the exact formula with erf, or the approximation with tanh."""
    return per_element(node, ACTIVATIONS["fastgelu" if node.attr("approximate", "none") == "tanh" else "gelu"])


@cost("Swish")
def swish(node: Node) -> Cost:
    """Cost x * sigmoid(alpha * x); an alpha of 1 multiplies nothing."""
    return per_element(node, ACTIVATIONS["silu" if node.attr("alpha", 1.0) == 1.0 else "quickgelu"])


@cost("SwiGLU")
def swiglu(node: Node) -> Cost:
    """Cost swish(a) * b."""
    return per_element(node, gated_swish(node.attr("alpha", 1.0), 0.0, clamps=False))


@cost("Cast")
def cast(node: Node) -> Cost:
    """Cost a conversion: one FLOP for each element where a floating-point type or a test for zero is involved.

    Between integers, and from bool to integers, bits are copied, cut off or extended: traffic alone.
    """
    return _conversion(node, node.x, node.y)


@cost("CastLike")
def cast_like(node: Node) -> Cost:
    """Cost a Cast; the second input lends its type and is not read."""
    alone = Node(node.op_type, node.inputs[:1], node.outputs, node.attributes, node.name, node.domain, node.version)
    return _conversion(alone, node.x, node.y)


def _conversion(node: Node, source: Tensor, target: Tensor) -> Cost:
    kinds = [tensor.dtype or "" for tensor in (source, target)]
    floats = [kind for kind in kinds if "float" in kind or "complex" in kind]
    converts = kinds[0] != kinds[1] and (bool(floats) or kinds[1] == "bool")
    return per_element(node, ONE if converts else NOTHING_TO_DO, other_type=(floats or kinds)[0])


@cost("Dropout")
def dropout(node: Node) -> Cost:
    """Cost nothing at inference, where it is a view, but for a mask that is asked for; in training draw and scale.

    Training is asked for by `training_mode` (opset 12 on), or by `is_test` = 0 (its default, before opset 7).
    """
    mode = node.input(2)
    training = any(mode.ints()) if mode else node.version < 7 and not node.attr("is_test", 0)
    if training:
        return per_element(node, DROPPING, node.x.size)
    mask = node.output(1)
    return node.cost(read_bytes=0, write_bytes=mask.bytes if mask else 0)

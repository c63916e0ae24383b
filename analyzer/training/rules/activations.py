"""Functions of one element: the derivative from what the forward pass keeps, times the gradient that comes in.

What is kept is what frameworks keep: the output where the derivative is simple in it (relu, tanh, sigmoid, exp), else
the input.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NamedTuple

from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.activations import ALIASES, PerElement
from neural_cost.analyzer.training.registry import BackwardRule, Gradient, Kept, Wants, backward, reduced


class Slope(NamedTuple):
    """Work on each element, and which tensor it is made from."""

    work: PerElement
    keeps: Literal["input", "output", "nothing"] = "input"


SLOPES = {
    "Relu": Slope(PerElement(1), "output"),  # dy where y > 0
    "Sigmoid": Slope(PerElement(3), "output"),  # dy * y * (1 - y)
    "Tanh": Slope(PerElement(3), "output"),  # dy * (1 - y * y)
    "Exp": Slope(PerElement(1), "output"),  # dy * y
    "Sqrt": Slope(PerElement(2, 1), "output"),  # dy / (2 * y)
    "Reciprocal": Slope(PerElement(2), "output"),  # -dy * y * y
    "Tan": Slope(PerElement(3), "output"),  # dy * (1 + y * y)
    "Neg": Slope(PerElement(1), "nothing"),
    "Abs": Slope(PerElement(2)),  # dy * sign(x)
    "Log": Slope(PerElement(1, 1)),  # dy / x
    "Erf": Slope(PerElement(4, 1)),  # dy * c * exp(-x * x)
    "Sin": Slope(PerElement(2, 1)), "Cos": Slope(PerElement(2, 1)),  # dy * cos(x); -dy * sin(x)
    "Sinh": Slope(PerElement(2, 1)), "Cosh": Slope(PerElement(2, 1)),
    "Asin": Slope(PerElement(4, 2)), "Acos": Slope(PerElement(4, 2)),  # dy / sqrt(1 - x * x)
    "Asinh": Slope(PerElement(4, 2)), "Acosh": Slope(PerElement(4, 2)),
    "Atan": Slope(PerElement(3, 1)), "Atanh": Slope(PerElement(3, 1)),  # dy / (1 + x * x)
    "LeakyRelu": Slope(PerElement(2)),  # compare, alpha * dy
    "ThresholdedRelu": Slope(PerElement(1)),
    "Shrink": Slope(PerElement(2)),  # compare with -lambd and with lambd
    "Elu": Slope(PerElement(4, 1)), "Selu": Slope(PerElement(4, 1)),  # compare, dy * c * exp(x)
    "Celu": Slope(PerElement(4, 1)),  # compare, dy * exp(c * x)
    "HardSigmoid": Slope(PerElement(3)),  # two compares, alpha * dy
    "HardSwish": Slope(PerElement(5)),  # two compares, dy * (c * x + 1/2)
    "Softplus": Slope(PerElement(4, 2)),  # dy * sigmoid(x)
    "Softsign": Slope(PerElement(4, 1)),  # dy / (1 + |x|) squared: absolute, add, square, divide
    # t = tanh(softplus(x)) is 4, s = sigmoid(x) is 3; dy * (t + x * s * (1 - t * t))
    "Mish": Slope(PerElement(13, 5)),
}  # fmt: skip
"""By operator."""

GELU = {
    # the distribution is 4: x * c, erf, + 1, / 2; the density 4: x * x, * c, exp, * c; dy * (one + x * other)
    "none": Slope(PerElement(11, 2)),
    # t = tanh(x * (c * x * x + d)) is 5; (1 + t) / 2; 1 - t * t; 3 * c * x * x + d; x * * * / 2; +; dy *
    "tanh": Slope(PerElement(5 + 2 + 2 + 2 + 3 + 1 + 1, 1)),
}

SWISH = Slope(PerElement(8, 2))  # s = sigmoid(x) is 3; dy * s * (1 + x * (1 - s))

NAMED = {name.lower(): slope for name, slope in SLOPES.items()} | {
    "gelu": GELU["none"],
    "fastgelu": GELU["tanh"],
    "quickgelu": Slope(SWISH.work + PerElement(2)),
    "silu": SWISH,
    "softmax": Slope(PerElement(4), "output"),
    "clip": Slope(PerElement(2)),  # compare with both bounds
    "relu2": Slope(PerElement(3)),  # 2 * dy * max(x, 0)
    "scaledtanh": Slope(PerElement(4), "output"),  # dy * (c - d * y * y)
    "affine": Slope(PerElement(1), "nothing"),  # dy * alpha
    "identity": Slope(PerElement(0), "nothing"),
}
"""By the names that attributes of fused and recurrent operators give functions, in lower case."""


def slope_of(name: str) -> Slope:
    """The slope of a function that an attribute names. Raises Unknown for one without a formula."""
    lower = name.lower()
    found = NAMED.get(ALIASES.get(lower, lower))
    if found is None:
        raise Unknown(f"the slope of {name} has no formula here")
    return found


def apply(node: Node, slope: Slope) -> Gradient:
    """The gradient of the first input."""
    size = node.y.size
    kept: dict[str, Tensor | None] = {"input": node.x, "output": node.y, "nothing": None}
    return Gradient(
        other_flops=size * slope.work.flops, special_ops=size * slope.work.special, saves=(kept[slope.keeps],)
    )


def _rule_of(slope: Slope) -> BackwardRule:
    def rule(node: Node, wants: Wants) -> Gradient:
        del wants
        return apply(node, slope)

    return rule


for _op_type, _slope in SLOPES.items():
    backward(_op_type)(_rule_of(_slope))


@backward("Gelu")
@backward("Gelu", domain="com.microsoft")
def gelu(node: Node, wants: Wants) -> Gradient:
    """The exact formula, or the approximation with tanh."""
    del wants
    return apply(node, GELU["tanh" if node.attr("approximate", "none") == "tanh" else "none"])


@backward("Swish")
def swish(node: Node, wants: Wants) -> Gradient:
    """An alpha that is not 1 multiplies x, and once more what is made of 1 - s."""
    del wants
    scaled = node.attr("alpha", 1.0) != 1.0
    return apply(node, Slope(SWISH.work + PerElement(2)) if scaled else SWISH)


@backward("FastGelu", domain="com.microsoft")
def fast_gelu(node: Node, wants: Wants) -> Gradient:
    """The approximation with tanh of x and a bias, which sums what x gets; of both the sum is kept."""
    found = apply(node, GELU["tanh"])
    if node.input(1) is None:
        return found
    whole = Kept(node.y.size, node.y.dtype or "float32", precise=False)
    return replace(found, other_flops=found.other_flops + reduced(node, wants & {1}), saves=(), kept=(whole,))


@backward("QuickGelu", domain="com.microsoft")
def quick_gelu(node: Node, wants: Wants) -> Gradient:
    """A Swish whose alpha, 1.702 by default, multiplies twice more unless it is 1."""
    del wants
    return apply(node, SWISH if node.attr("alpha", 1.702) == 1.0 else Slope(SWISH.work + PerElement(2)))


@backward("Clip")
def clip(node: Node, wants: Wants) -> Gradient:
    """One comparison for each bound; a bound that needs its own gradient sums what x does not get."""
    given = [node.input(1), node.input(2), node.attr("min"), node.attr("max")]
    of_x = apply(node, Slope(PerElement(sum(bound is not None for bound in given))))
    return replace(of_x, other_flops=of_x.other_flops + reduced(node, wants - {0}))


@backward("PRelu")
def prelu(node: Node, wants: Wants) -> Gradient:
    """For x a comparison and a product with the slope; for the slope a product with x, and the sum."""
    size = node.y.size
    flops = size * (2 if 0 in wants else 0) + (size * 2 + reduced(node, wants & {1}) if 1 in wants else 0)
    return Gradient(other_flops=flops, saves=(node.x, node.required(1)))


@backward("Softmax")
def softmax(node: Node, wants: Wants) -> Gradient:
    """y * (dy - sum(dy * y)): multiply, add, subtract, multiply."""
    del wants
    return apply(node, NAMED["softmax"])


@backward("LogSoftmax")
def log_softmax(node: Node, wants: Wants) -> Gradient:
    """Dy - exp(y) * sum(dy): add, exp, multiply, subtract."""
    del wants
    return apply(node, Slope(PerElement(4, 1), "output"))

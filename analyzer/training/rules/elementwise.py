"""Arithmetic between tensors, selections, conversions and Dropout."""

from __future__ import annotations

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward, reduced


@backward("Add", "Sum")
def add(node: Node, wants: Wants) -> Gradient:
    """The gradient goes on to each operand as it is."""
    return Gradient(other_flops=reduced(node, wants))


@backward("Sub")
def sub(node: Node, wants: Wants) -> Gradient:
    """To the second operand it goes with the other sign."""
    return Gradient(other_flops=reduced(node, wants) + (node.y.size if 1 in wants else 0))


@backward("Mul")
def mul(node: Node, wants: Wants) -> Gradient:
    """A product with the other operand for each."""
    return Gradient(
        other_flops=reduced(node, wants) + len(wants) * node.y.size,
        saves=tuple(node.required(1 - index) for index in sorted(wants)),
    )


@backward("Div")
def div(node: Node, wants: Wants) -> Gradient:
    """Dy / b for the dividend; -dy * (a / b) / b for the divisor."""
    size, flops, special = node.y.size, reduced(node, wants), 0
    if 0 in wants:
        flops, special = flops + size, special + size
    if 1 in wants:
        flops, special = flops + 3 * size, special + 2 * size
    saves = (node.required(1), node.x if 1 in wants else None)
    return Gradient(other_flops=flops, special_ops=special, saves=saves)


@backward("Pow")
def power(node: Node, wants: Wants) -> Gradient:
    """Dy * b * a ** (b - 1) for the base; dy * y * log(a) for the exponent."""
    size, flops, special = node.y.size, reduced(node, wants), 0
    saves: list[Tensor | None] = [node.x, node.required(1)]
    if 0 in wants:
        flops, special = flops + 3 * size, special + size
    if 1 in wants:
        flops, special = flops + 3 * size, special + size
        saves.append(node.y)
    return Gradient(other_flops=flops, special_ops=special, saves=tuple(saves))


@backward("SwiGLU")
def swiglu(node: Node, wants: Wants) -> Gradient:
    """Of swish(a) * b: 8 and a product for a, as the Swish has; swish(a), 4, and a product for b."""
    size = node.y.size
    flops = size * ((8 + 1 if 0 in wants else 0) + (4 + 1 if 1 in wants else 0))
    special = size * 2 * len(wants)
    return Gradient(other_flops=flops, special_ops=special, saves=(node.x, node.required(1) if 0 in wants else None))


@backward("Mod")
def mod(node: Node, wants: Wants) -> Gradient:
    """To the dividend as it is; -dy * floor(a / b) for the divisor."""
    size = node.y.size if 1 in wants else 0
    saves = (node.x, node.required(1)) if 1 in wants else ()
    return Gradient(other_flops=reduced(node, wants) + 3 * size, special_ops=size, saves=saves)


@backward("Max", "Min")
def extreme(node: Node, wants: Wants) -> Gradient:
    """One comparison for each operand: with the others it decides where the gradient goes."""
    saves = tuple(node.inputs) if len(node.inputs) > 1 else ()
    return Gradient(other_flops=reduced(node, wants) + len(wants) * node.y.size, saves=saves)


@backward("Mean")
def mean(node: Node, wants: Wants) -> Gradient:
    """One division, whose result goes to each operand."""
    size = node.y.size
    return Gradient(other_flops=reduced(node, wants) + size, special_ops=size)


@backward("Where")
def where(node: Node, wants: Wants) -> Gradient:
    """A select by the condition, which is kept."""
    return Gradient(other_flops=reduced(node, wants), saves=(node.x,))


@backward("Cast", "CastLike")
def cast(node: Node, wants: Wants) -> Gradient:
    """A conversion back."""
    del wants
    return Gradient(other_flops=node.y.size if node.x.dtype != node.y.dtype else 0)


@backward("Dropout")
def dropout(node: Node, wants: Wants) -> Gradient:
    """A product with the mask, a byte for each element, and one with the scale: in training it drops in any file.

    A ratio of 0 drops nothing.
    """
    del wants
    size: Dim = node.y.size
    ratio = node.attr("ratio", 0.5 if node.input(1) is None else None)
    if ratio == 0.0:
        return Gradient()
    return Gradient(other_flops=2 * size, kept=(Kept(size, "bool"),))

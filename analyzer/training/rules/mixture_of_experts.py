"""Mixtures of experts: back through the k experts that each token went through, and to the scores that chose them.

They go back as what they are made of: a Softmax of the scores, a TopK, a Gather of each expert's tokens, a product, the
activation, a product, a multiply by the token's weight for that expert, and an add to the output. So what is kept is
the softmax and the places, the tokens once for each of their experts, what the first layers gave, what the activation
gave and what the second layer gave.
"""

from __future__ import annotations

from typing import NamedTuple

from neural_cost.analyzer.cost import Dim, minimum, prod
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.activations import PerElement, activation
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward
from neural_cost.analyzer.training.rules.activations import NAMED, slope_of

DOMAIN = "com.microsoft"
TOKENS, SCORES = 0, 1


class Layers(NamedTuple):
    """Positions of the first layer, of its gate's where it has one of its own, and of the second, with their biases."""

    first: int
    second: int
    gate: int
    first_bias: int
    second_bias: int
    gate_bias: int


def experts(node: Node, wants: Wants, at: Layers, inner: Dim, decode: int = 0) -> Gradient:
    """The gradients of all that is given; `decode` FLOPs make each weight of a chosen expert again."""
    hidden, scores, k = node.x.shape[-1], node.required(SCORES), node.attr("k", 1)
    tokens = prod(node.x.shape[:-1])
    rows = tokens * k
    slope, parts, held = _between(node, node.input(at.gate))
    apart = node.input(at.gate) is not None
    one = rows * hidden * inner
    of_first = one * (1 if apart else parts)
    before = wants & {TOKENS, at.first, at.first_bias, at.gate, at.gate_bias}  # these lie before the activation
    macs = {at.first: of_first, at.gate: one, at.second: one, TOKENS: one * parts}
    biases = wants & {at.first_bias, at.second_bias, at.gate_bias}
    sums = sum((rows * node.required(index).shape[-1] - node.required(index).size for index in sorted(biases)), 0)
    experts_met = minimum(scores.shape[-1], rows)
    decoded = (hidden * inner * parts if TOKENS in wants else 0) + (hidden * inner if before else 0)
    routed = _routing(node, rows, hidden) if SCORES in wants else 0
    flops = rows * hidden * (2 if TOKENS in wants else 1) + (rows * inner * slope.flops if before else 0)
    return Gradient(
        macs={position: count for position, count in macs.items() if position in wants},
        inner_macs=one if before else 0,
        other_flops=flops + sums + routed + experts_met * decoded * decode,
        special_ops=rows * inner * slope.special if before else 0,
        saves=tuple(node.input(position) for position in (at.first, at.second, at.gate) if position >= 0),
        kept=_kept(node, rows, inner * held),
    )


def _routing(node: Node, rows: Dim, hidden: Dim) -> Dim:
    """For each expert of a token the dot product of its output, back from their sum, and the softmax of all scores.

    Weights that were made to add up to 1 go back as (dw - the sum of dw * w) / sum: multiply, add, subtract, divide.
    """
    normalized = 4 if node.attr("normalize_routing_weights", 0) else 0
    return rows * (2 * hidden + normalized) + NAMED["softmax"].work.flops * node.required(SCORES).size


def _kept(node: Node, rows: Dim, between: Dim) -> tuple[Kept, ...]:
    elements = node.required(SCORES).size + rows * (2 * node.x.shape[-1] + between)
    return Kept(elements, node.x.dtype or "float32", precise=False), Kept(rows, "int64")


class Between(NamedTuple):
    """What lies between the layers, for each element that the second one reads.

    Attributes:
        slope: work back.
        parts: outputs of the first layers.
        held: numbers that are kept: what the second layer reads, and what its slope is made from.
    """

    slope: PerElement
    parts: int
    held: int


def _between(node: Node, separate: Tensor | None) -> Between:
    """With a gate: the function and a product for one side, its slope and a product for the other."""
    name = node.attr("activation_type", "relu")
    if name == "swiglu":
        if node.attr("swiglu_limit") is not None or node.attr("activation_beta", 0.0) != 0.0:
            raise Unknown("its backward cost is known for SwiGLU without a limit and a beta")
        return _gated("silu" if node.attr("activation_alpha", 1.0) == 1.0 else "quickgelu")
    if name == "geglu":
        return _gated("fastgelu")
    if separate is not None:
        return _gated(name)
    slope = slope_of(name)
    return Between(slope.work, 1, 2 if slope.keeps == "input" else 1)


def _gated(name: str) -> Between:
    return Between(activation(name) + slope_of(name).work + PerElement(2), 2, 3)


@backward("MoE", domain=DOMAIN)
def moe(node: Node, wants: Wants) -> Gradient:
    """Experts of two layers and, where it is there, a third for the gate."""
    at = Layers(first=2, second=4, gate=6, first_bias=3, second_bias=5, gate_bias=7)
    return experts(node, wants, at, node.required(4).shape[-1])


@backward("QMoE", domain=DOMAIN)
def qmoe(node: Node, wants: Wants) -> Gradient:
    """Experts with packed weights of integers, which are decoded again, with a zero point, and get no gradient."""
    if node.attr("quant_type", "int") != "int" or node.input(14) is not None:
        raise Unknown("its backward cost is known for weights of integers and scores that go through a softmax")
    at = Layers(first=2, second=5, gate=8, first_bias=4, second_bias=7, gate_bias=10)
    if wants - {TOKENS, SCORES, at.first_bias, at.second_bias, at.gate_bias}:
        raise Unknown("the gradient of packed weights and of their scales is not known")
    parts = _between(node, node.input(at.gate)).parts
    inner = node.required(at.first).shape[1] // (1 if node.input(at.gate) else parts)
    return experts(node, wants, at, inner, decode=3)

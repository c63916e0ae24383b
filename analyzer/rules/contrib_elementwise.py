"""Elementwise operators that ONNX Runtime fuses with their neighbours (com.microsoft), and its own activations."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import ACTIVATIONS, SOFTMAX, PerElement, gated_swish
from neural_cost.analyzer.rules.elementwise import DROPPING, ONE, per_element
from neural_cost.analyzer.rules.registry import CostRule, cost

DOMAIN = "com.microsoft"

PER_ELEMENT = {
    "BiasAdd": PerElement(2),  # x + bias + skip
    "BiasGelu": ONE + ACTIVATIONS["gelu"],
    "BiasSoftmax": ONE + SOFTMAX,
    "BiasSplitGelu": PerElement(2) + ACTIVATIONS["gelu"] + ONE,  # two halves with bias; left * gelu(right)
    "Gelu": ACTIVATIONS["gelu"],
    "ScaledSiLU": ONE + ACTIVATIONS["silu"],  # silu(scale * x)
}
"""What one output element costs, for the operators whose attributes do not change it."""


def _rule_of(work: PerElement) -> CostRule:
    def rule(node: Node) -> Cost:
        return per_element(node, work)

    return rule


for _op_type, _work in PER_ELEMENT.items():
    cost(_op_type, domain=DOMAIN)(_rule_of(_work))


@cost("FastGelu", domain=DOMAIN)
def fast_gelu(node: Node) -> Cost:
    """Cost the approximation with tanh, and a bias where there is one."""
    return per_element(node, ACTIVATIONS["fastgelu"] + PerElement(1 if node.input(1) else 0))


@cost("QuickGelu", domain=DOMAIN)
def quick_gelu(node: Node) -> Cost:
    """Cost x * sigmoid(alpha * x); an alpha of 1 multiplies nothing."""
    return per_element(node, ACTIVATIONS["silu" if node.attr("alpha", 1.702) == 1.0 else "quickgelu"])


@cost("SwiGLU", domain=DOMAIN)
def swiglu(node: Node) -> Cost:
    """Cost g * sigmoid(alpha * g) * (l + beta); with a limit, g is clamped from above and l from both sides."""
    alpha, beta = node.attr("activation_alpha", 1.0), node.attr("activation_beta", 0.0)
    return per_element(node, gated_swish(alpha, beta, clamps=node.attr("limit", 0.0) > 0))


def _training(mode: Tensor | None) -> bool:
    return mode is not None and any(mode.ints())


@cost("BiasDropout", "BitmaskBiasDropout", domain=DOMAIN)
def bias_dropout(node: Node) -> Cost:
    """Cost adding bias and residual; in training, dropping too."""
    adds = PerElement(2 if node.input(2) else 1)
    return per_element(node, adds + DROPPING if _training(node.input(4)) else adds)


@cost("BitmaskDropout", domain=DOMAIN)
def bitmask_dropout(node: Node) -> Cost:
    """Cost nothing at inference, where it is a view, but for a mask that is asked for; in training, dropping."""
    if _training(node.input(2)):
        return per_element(node, DROPPING, node.x.size)
    mask = node.output(1)
    return node.cost(read_bytes=0, write_bytes=mask.bytes if mask else 0)


@cost("GatedAdd", domain=DOMAIN)
def gated_add(node: Node) -> Cost:
    """Cost x + y * gate; a gate that is projected costs a dot product and a sigmoid for each row."""
    size, gate = node.y.size, node.required(2)
    if node.input(3) is None:
        return node.cost(other_flops=2 * size)
    rows, sigmoid = prod(gate.shape[:-1]), ACTIVATIONS["sigmoid"]
    return node.cost(macs=gate.size, other_flops=2 * size + rows * sigmoid.flops, special_ops=rows * sigmoid.special)


@cost("IsAllFinite", domain=DOMAIN)
def is_all_finite(node: Node) -> Cost:
    """Cost a test of each element of each input, and joining the answers."""
    return node.cost(other_flops=2 * sum((tensor.size for tensor in node.inputs if tensor is not None), 0))


@cost("DynamicTimeWarping", domain=DOMAIN)
def dynamic_time_warping(node: Node) -> Cost:
    """Cost for each point the least of its three predecessors and an add; following the path back compares nothing."""
    return node.cost(other_flops=3 * node.x.size)

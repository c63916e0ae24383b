"""Convolutions: the gradients of input and filter are each a convolution with as many MACs as the forward one."""

from __future__ import annotations

from neural_cost.analyzer.cost import prod
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward
from neural_cost.analyzer.training.rules.products import product


def convolution(node: Node, wants: Wants, side: Tensor, bias: int = 2) -> Gradient:
    """Each element of a side, the output or for a transposed one the input, meets every tap of its group's filters.

    Once for each operand that needs a gradient; that of the bias is the sum of the output's.
    """
    flops = node.y.size - node.required(bias).size if bias in wants else 0
    return product(node, wants, side.size * prod(node.required(1).shape[1:]), flops)


@backward("Conv")
def conv(node: Node, wants: Wants) -> Gradient:
    """One dot product over a filter for each output element, once for each operand that needs it."""
    return convolution(node, wants, node.y)


@backward("CausalConvWithState")
@backward("CausalConvWithState", domain="com.microsoft")
def causal_conv_with_state(node: Node, wants: Wants) -> Gradient:
    """A product for the input with the state before it, one for the filters; SiLU's slope, 8, from what is kept."""
    macs = node.y.size * prod(node.required(1).shape[1:])
    size, gated = node.y.size, node.attr("activation", "none") in ("silu", "swish")
    if not gated and node.attr("activation", "none") != "none":
        raise Unknown(f"the slope of {node.attr('activation')} has no formula here")
    bias = size - node.required(2).size if 2 in wants else 0
    of_input, of_filter = bool(wants & {0, 3}), 1 in wants
    return Gradient(
        macs={at: macs for at, wanted in ((0, of_input), (1, of_filter)) if wanted},
        other_flops=bias + (8 * size if gated else 0),
        special_ops=2 * size if gated else 0,
        saves=(node.required(1) if of_input else None, *((node.x, node.input(3)) if of_filter else ())),
        kept=(Kept(size, node.x.dtype or "float32", precise=False),) if gated else (),
    )


@backward("ConvTranspose")
@backward("ConvTranspose", domain="com.ms.internal.nhwc")
def conv_transpose(node: Node, wants: Wants) -> Gradient:
    """Each input element meets every tap of its group's filters, once for each operand that needs it."""
    return convolution(node, wants, node.x)

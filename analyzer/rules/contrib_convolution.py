"""Convolutions of ONNX Runtime: fused with what follows, in other layouts, over packed tokens, over characters.

A layout changes no count: filters keep their output channels first, so the taps of one output element are the
product of the other axes. Traffic is the default but where a rule says otherwise.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, minimum, prod
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.activations import activation
from neural_cost.analyzer.rules.convolution import covered_read
from neural_cost.analyzer.rules.registry import cost


@cost("FusedConv", "NhwcConv", "NhwcFusedConv", domain="com.microsoft")
@cost("Conv", domain="com.microsoft.nchwc")
@cost("Conv", domain="com.ms.internal.nhwc")
def fused_conv(node: Node) -> Cost:
    """Cost a convolution, the bias, the tensor that is added to it, and the activation.

    Where filters are padded to whole blocks of channels (nchwc), the padding is computed and counts.
    """
    function = activation(node.attr("activation", ""))
    adds = (1 if node.input(2) else 0) + (1 if node.input(3) else 0)
    return node.cost(
        macs=node.y.size * prod(node.required(1).shape[1:]),
        other_flops=node.y.size * (adds + function.flops),
        special_ops=node.y.size * function.special,
        read_bytes=covered_read(node, node.required(1))
        if node.op_type == "FusedConv"
        else None,  # others: other layouts
    )


@cost("ConvTransposeWithDynamicPads", domain="com.microsoft")
def conv_transpose_with_dynamic_pads(node: Node) -> Cost:
    """Cost a transposed convolution whose bias is input 3: pads, a tensor here, are input 2."""
    taps = prod(node.required(1).shape[1:])
    return node.cost(macs=node.x.size * taps, other_flops=node.y.size if node.input(3) else 0)


@cost("VarlenCausalConvWithState", domain="com.microsoft")
def varlen_causal_conv_with_state(node: Node) -> Cost:
    """Cost a depthwise causal convolution over packed tokens; lengths of sequences change no count.

    With `kernel_delta` each of the two taps has an add of its own for each output element, and the product of the
    previous token is multiplied by its mask.
    """
    function = activation(node.attr("activation", "none"))
    extra = (1 if node.input(3) else 0) + (3 if node.input(6) else 0)
    return node.cost(
        macs=node.y.size * prod(node.required(1).shape[1:]),
        other_flops=node.y.size * (extra + function.flops),
        special_ops=node.y.size * function.special,
    )


@cost("WordConvEmbedding", domain="com.microsoft")
def word_conv_embedding(node: Node) -> Cost:
    """Cost a convolution over the characters of each word, bias, tanh, and the largest of all positions.

    Words are (..., characters), filters (filters, 1, window, embedding). Words shorter than their row count in full.
    Of the character table, the rows that are taken are read.
    """
    words, weight, bias, table = (node.required(index) for index in range(4))
    positions = words.shape[-1] - weight.shape[2] + 1
    responses = prod(words.shape[:-1]) * positions * weight.shape[0]
    taken = minimum(words.size * table.shape[1], table.size)
    return node.cost(
        macs=responses * prod(weight.shape[1:]),
        other_flops=3 * responses,
        special_ops=responses,
        read_bytes=words.bytes + weight.bytes + bias.bytes + table.size_in_bytes(taken),
        compute_type=weight.dtype,
    )

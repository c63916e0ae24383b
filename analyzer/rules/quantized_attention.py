"""Attention with quantized operands: MACs of the projection are integer ones, those of the scores what they are.

Traffic is the default, but for caches as `contrib_attention` has them.
"""

from __future__ import annotations

from dataclasses import replace

from neural_cost.analyzer.cost import Cost, Dim
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.activations import SOFTMAX, PerElement, then
from neural_cost.analyzer.rules.attention import scaled_dot_product
from neural_cost.analyzer.rules.contrib_attention import ROTARY, per_score, unidirectional
from neural_cost.analyzer.rules.quantized_contraction import centred
from neural_cost.analyzer.rules.registry import cost

RESCALE = PerElement(2)
"""An accumulator to a float: convert, multiply by the scales."""

QUANTIZE = PerElement(5, 1)
"""A float to int8 without a zero point: divide, round, clamp, convert."""

REQUANTIZE = PerElement(6)
"""An accumulator to int8 without a zero point: convert, multiply by the scales, round, clamp, convert."""


def _in_two_types(result: Cost, node: Node, projection: Dim) -> Cost:
    """Say that the projection runs in the type of the input, and the attention in that of the output."""
    kind = node.y.dtype or "float32"
    return replace(
        result,
        compute_type=node.x.dtype,
        other_type=kind,
        mixed_macs=((kind, result.macs - projection),),
    )


@cost("QAttention", domain="com.microsoft")
def qattention(node: Node) -> Cost:
    """Cost an integer projection to Q, K and V, its rescaling and bias, and attention in floats."""
    x, weight, past = node.x, node.required(1), node.input(8)
    if past and node.attr("past_present_share_buffer", 0):
        raise Unknown("how many tokens its shared cache holds is not known before a run")
    tokens, hidden = x.shape[0] * x.shape[1], node.y.shape[-1]
    scales = node.required(4).size
    projection = x.size * weight.shape[1]
    result = scaled_dot_product(
        node,
        query=tokens * hidden,
        output=node.y.size,
        rows=tokens * node.required_attr("num_heads"),
        keys=x.shape[1] + (past.shape[3] if past else 0),
        causal=unidirectional(node, x.shape[1], past.shape[3] if past else 0),
        per_score=per_score(node, masked=bool(node.input(5) or node.attr("unidirectional", 0)), biased=False),
        other_flops=centred((x, node.input(6)), (weight, node.input(7))) + scales,
        macs=projection,
    )
    result = then(result, RESCALE + PerElement(1), tokens * weight.shape[1])
    if node.attr("do_rotary", 0):
        result = then(result, ROTARY, 2 * tokens * hidden)
    return _in_two_types(result, node, projection)


@cost("QOrderedAttention", domain="com.microsoft")
def qordered_attention(node: Node) -> Cost:
    """Cost attention with int8 operands in each of its products.

    Q, K and V: rescaled, bias, and quantized. Scores: requantized, dequantized (convert, multiply), masked, softmax,
    quantized. Output: requantized.
    """
    x = node.x
    weights = [node.required(index) for index in (5, 6, 7)]
    scales = sum((node.required(index).size for index in (8, 9, 10)), 0)
    tokens, width = x.shape[0] * x.shape[1], sum((weight.shape[1] for weight in weights), 0)
    masked = bool(node.input(17) or node.attr("unidirectional", 0))
    result = scaled_dot_product(
        node,
        query=tokens * weights[0].shape[1],
        output=node.y.size,
        rows=tokens * node.required_attr("num_heads"),
        keys=x.shape[1],
        causal=unidirectional(node, x.shape[1], 0),
        per_score=REQUANTIZE + RESCALE + PerElement(masked + (node.input(19) is not None)) + SOFTMAX + QUANTIZE,
        other_flops=scales,
        macs=x.size * width,
        other_type="float32",
    )
    result = then(result, REQUANTIZE + PerElement(1), tokens * width)
    return then(result, REQUANTIZE, node.y.size)


@cost("QOrderedLongformerAttention", domain="com.microsoft")
def qordered_longformer_attention(node: Node) -> Cost:
    """Answer that it is unknown: its definition does not say in which type the window is attended to."""
    raise Unknown("its definition does not say which of its products run in int8")

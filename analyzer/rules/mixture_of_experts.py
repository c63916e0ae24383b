"""Mixtures of experts: each token goes through k of the E experts.

Which experts a token goes to is known in a run only, how many is not: MACs are exact. Weights are read of the
min(E, tokens x k) experts that can be chosen; a run whose tokens agree reads fewer, as a Gather whose indices repeat.
Routing: a softmax over the experts of each token, one comparison with each, the k best put in order; with
normalized weights, an add and a divide for each; then a multiply and an add of each output.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost, Dim, minimum, prod
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.activations import SOFTMAX, PerElement, activation, gated_swish, then
from neural_cost.analyzer.rules.registry import cost
from neural_cost.analyzer.rules.sorting import log2_ceil
from neural_cost.analyzer.rules.weight_only import DECODE, DECODE_WITH_ZERO_POINT

NOT_PACKED = PerElement(0)
"""Weights that are multiplied as they stand."""


def experts_cost(
    node: Node,
    *,
    inner: Dim,
    first_outputs: Dim,
    function: PerElement,
    biases: tuple[Tensor | None, ...] = (),
    expert_tensors: tuple[Tensor | None, ...],
    decode: PerElement = NOT_PACKED,
    routed_softmax: bool = True,
    normalized: int = 0,
    compute_type: str | None = None,
) -> Cost:
    """Cost routing and the experts' layers.

    Args:
        node: with the tokens as first and the router's scores as second input, and the attribute k.
        inner: width between the layers, after the gate.
        first_outputs: outputs of the first layer or layers: `inner`, or twice that where it has a gate.
        function: work of the activation on one of the `inner` elements.
        biases: those of the layers, (E, outputs): one add for each output of a chosen expert.
        expert_tensors: all inputs whose first axis is that of the experts.
        decode: work on each weight of a chosen expert before it can be multiplied.
        routed_softmax: whether the scores go through a softmax.
        normalized: whether the weights of the chosen experts are made to add up to 1, unless the node says.
        compute_type: where it is not that of the tokens.
    """
    hidden, scores, k = node.x.shape[-1], node.required(1), node.attr("k", 1)
    tokens = prod(node.x.shape[:-1])
    experts = scores.shape[-1]
    weights = hidden * (first_outputs + inner)
    chosen = minimum(experts, tokens * k)
    adds = sum((bias.shape[-1] for bias in biases if bias), 0)
    held = sum((tensor.bytes for tensor in expert_tensors if tensor), 0)
    result = node.cost(
        macs=tokens * k * weights,
        other_flops=tokens * k * (adds + 2 * hidden + log2_ceil(k)) + scores.size,
        read_bytes=node.read_bytes - held + held // experts * chosen,
        compute_type=compute_type,
        other_type=node.x.dtype,
    )
    result = then(result, SOFTMAX if routed_softmax else PerElement(0), scores.size)
    sums = PerElement(2, 1) if node.attr("normalize_routing_weights", normalized) else PerElement(0)
    result = then(result, sums, tokens * k)
    return then(then(result, function, tokens * k * inner), decode, chosen * weights)


def _gating(node: Node, separate: Tensor | None) -> tuple[PerElement, int]:
    """Count the activation of one element between the layers, and how many outputs of the first layer it takes."""
    name = node.attr("activation_type", "relu")
    if name == "geglu":
        return activation("fastgelu") + PerElement(1), 2
    if name == "swiglu":
        clamps = node.attr("swiglu_limit") is not None
        return gated_swish(node.attr("activation_alpha", 1.0), node.attr("activation_beta", 0.0), clamps), 2
    if separate is not None:
        return activation(name) + PerElement(1), 2
    return activation(name), 1


@cost("MoE", domain="com.microsoft")
def moe(node: Node) -> Cost:
    """Cost experts of two layers: (E, inner or 2 * inner, hidden), then (E, hidden, inner), and a third for a gate."""
    function, parts = _gating(node, node.input(6))
    inner = node.required(4).shape[-1]
    return experts_cost(
        node,
        inner=inner,
        first_outputs=parts * inner,
        function=function,
        biases=(node.input(3), node.input(5), node.input(7)),
        expert_tensors=tuple(node.inputs[2:]),
    )


@cost("QMoE", domain="com.microsoft")
def qmoe(node: Node) -> Cost:
    """Cost experts with packed weights, in the type of the tokens (in float8 where those are quantized to it).

    Decoding subtracts a zero point for integers alone. The width between the layers is read from the rows of the
    first, but where NVFP4 packs along the outputs, from those of the second.
    """
    function, parts = _gating(node, node.input(8))
    kind = node.attr("quant_type", "int")
    transposed = kind == "nvfp4" and node.attr("weights_prepacked", -1) != 1
    fused = 1 if node.input(8) else parts
    inner = node.required(5).shape[1] if transposed else node.required(2).shape[1] // fused
    return experts_cost(
        node,
        inner=inner,
        first_outputs=parts * inner,
        function=function,
        biases=(node.input(4), node.input(7), node.input(10)),
        expert_tensors=tuple(node.inputs[2:14]) + tuple(node.inputs[15:17]),
        decode=DECODE_WITH_ZERO_POINT if kind == "int" else DECODE,
        routed_softmax=node.input(14) is None,
        compute_type="float8e4m3fn" if kind == "wfp4afp8" else None,
    )


@cost("MoEPacked", domain="com.microsoft")
def moe_packed(node: Node) -> Cost:
    """Cost experts with weights in packed formats: gate, up where there is one, down."""
    up = node.input(3)
    name = node.attr("activation_type", "swiglu")
    inner = node.required(2).shape[1]
    return experts_cost(
        node,
        inner=inner,
        first_outputs=inner * (2 if up else 1),
        function=gated_swish(1.0, 0.0, clamps=False) if name == "swiglu" else activation(name),
        expert_tensors=tuple(node.inputs[2:5]),
        decode=DECODE,
        routed_softmax=node.input(5) is None,
        normalized=1,
    )


@cost("MoEGroupRouter", domain="com.microsoft")
def moe_group_router(node: Node) -> Cost:
    """Cost the scores of a router limited to groups, and the choice of experts where it is made here.

    Each score: sigmoid, and the add of its bias. To choose: one comparison with each score and the best `group_topk`
    of each group in order, added up; one comparison with each group; one comparison with each score and the best
    `top_k` in order, max and log of each. With a projection, a product comes first.
    """
    projection, scores = node.input(2), node.y
    rows = prod(scores.shape[:-1])
    result = node.cost(macs=node.x.size * projection.shape[0] if projection else 0, other_type="float32")
    result = then(result, activation("sigmoid") + PerElement(1), scores.size)
    if node.output(0) is None:
        return result
    groups, best, k = node.attr("n_group", 1), node.attr("group_topk", 2), node.required_attr("top_k")
    chosen_groups = groups * (best * log2_ceil(best) + best) + groups
    choice = 2 * scores.size + rows * (chosen_groups + k * log2_ceil(k))
    return then(then(result, PerElement(1), choice), PerElement(2, 1), rows * k)

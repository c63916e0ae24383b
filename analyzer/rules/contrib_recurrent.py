"""Recurrent layers of com.microsoft: quantized as it runs, and with attention to a memory. See `recurrent`."""

from __future__ import annotations

from dataclasses import replace

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.activations import SOFTMAX, PerElement, then
from neural_cost.analyzer.rules.quantized_contraction import DYNAMIC_QUANTIZE, centred
from neural_cost.analyzer.rules.recurrent import directions_of, lstm_unit, recurrent_cost
from neural_cost.analyzer.rules.registry import cost

DEFAULTS = ["Sigmoid", "Tanh", "Tanh"]


@cost("DynamicQuantizeLSTM", domain="com.microsoft")
def dynamic_quantize_lstm(node: Node) -> Cost:
    """Cost an LSTM whose W and R, (directions, inputs, 4 * hidden), are integers and whose X and H become uint8.

    X is quantized once, H at each step of each direction, W and R are centred once. The two products of a gate are
    each converted and multiplied by the scale of their operands, then added; the scales themselves are multiplied
    once for each of W's and at each step for each of R's. The initial range and zero point of a step take 10.
    """
    w, r = node.required(1), node.required(2)
    directions, hidden = r.shape[0], r.shape[1]
    steps, batch = node.x.shape[0], node.x.shape[1]
    products = steps * batch * hidden * directions * 4
    scales = node.required(8).size + steps * node.required(10).size
    result = recurrent_cost(node, gates=4, hidden=hidden, inputs=node.x.shape[-1], defaults=DEFAULTS, unit=lstm_unit)
    states = steps * directions * batch * hidden
    result = then(result, PerElement(5), products)  # twice convert and multiply, one add
    result = then(result, DYNAMIC_QUANTIZE + PerElement(1), node.x.size + states)  # and its zero point
    result = then(result, PerElement(10, 2), 1 + steps * directions)
    result = then(result, PerElement(1), centred((w, node.input(9)), (r, node.input(11))) + scales)
    return replace(result, compute_type="int8", other_type=node.x.dtype)


@cost("AttnLSTM", domain="com.microsoft")
def attn_lstm(node: Node) -> Cost:
    """Cost an LSTM whose input at each step is X with the attention state of the step before.

    W has the width of both. Attention, in each direction: the memory times MW once; at each step the hidden state
    times QW; for each memory step add, tanh and product with V, softmax, and the product with the memory; then the
    attention layer AW, where there is one.
    """
    w, r = node.required(1), node.required(2)
    query, keys, memory, layer = (node.input(index) for index in (8, 9, 11, 13))
    hidden = r.shape[-1]
    result = recurrent_cost(node, gates=4, hidden=hidden, inputs=w.shape[-1], defaults=DEFAULTS, unit=lstm_unit)
    if query is None or keys is None or memory is None:
        raise Unknown("AttnLSTM lacks its attention: QW, MW and M")
    batch, length, depth = memory.shape
    width = keys.shape[-1]
    steps = node.x.shape[0] * directions_of(node) * batch
    once = directions_of(node) * batch * length * depth * width
    per_step = hidden * width + length * width + length * depth + (layer.shape[1] * layer.shape[2] if layer else 0)
    result = then(result, PerElement(2, 1), steps * length * width)
    result = then(result, SOFTMAX, steps * length)
    return replace(result, macs=result.macs + once + steps * per_step)

"""Recurrent layers: steps x batch x directions x gates x hidden x (input + hidden) MACs.

The products with the input and with the hidden state are one dot product of length input + hidden, so adding the two
is part of the MACs. Everything else is counted per hidden unit, per step, batch entry and direction, from the gate
equations in the operator's definition; both bias vectors are added where there is B. Sequence lengths are not
discounted, and an absent initial state counts as zeros that are multiplied. Traffic is the default: weights once, not
once a step, since they can stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from neural_cost.analyzer.cost import Cost, Dim
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.activations import PerElement, activation
from neural_cost.analyzer.rules.registry import cost

Unit = Callable[[Node, Sequence[PerElement]], PerElement]


def recurrent_cost(node: Node, *, gates: int, hidden: Dim, inputs: Dim, defaults: Sequence[str], unit: Unit) -> Cost:
    """Cost a recurrent layer of (steps, batch, inputs), or of (batch, steps, inputs) in layout 1.

    Args:
        node: with X first.
        gates: products for each hidden unit.
        hidden: hidden units of one direction.
        inputs: width of what W multiplies.
        defaults: names of the activations of one direction; `activations` names those of the forward one first.
        unit: work of one hidden unit in one step, given the activations of its direction.
    """
    units = node.x.shape[0] * node.x.shape[1] * hidden
    directions = _activations(node, defaults)
    work = sum((unit(node, functions) for functions in directions), PerElement(0))
    return node.cost(
        macs=units * len(directions) * gates * (inputs + hidden),
        other_flops=units * work.flops,
        special_ops=units * work.special,
    )


def recurrent(node: Node, gates: int, defaults: Sequence[str], unit: Unit) -> Cost:
    """Cost a recurrent layer whose R is (directions, gates * hidden, hidden)."""
    hidden, inputs = node.required(2).shape[-1], node.x.shape[-1]
    return recurrent_cost(node, gates=gates, hidden=hidden, inputs=inputs, defaults=defaults, unit=unit)


def directions_of(node: Node) -> int:
    """Count the directions."""
    return 2 if node.attr("direction", "forward") == "bidirectional" else 1


def _activations(node: Node, defaults: Sequence[str]) -> list[list[PerElement]]:
    """List the activation functions of each direction, with the clipping of what goes into each."""
    count = directions_of(node)
    names = node.attr("activations") or [*defaults] * count
    if len(names) < count * len(defaults):
        raise Unknown(f"{node.op_type} has {len(names)} activations and needs {count * len(defaults)}")
    clip = activation("clip" if node.attr("clip") is not None else "identity")
    functions = [clip + activation(name) for name in names]
    each = len(defaults)
    return [functions[each * number : each * (number + 1)] for number in range(count)]


def _bias(node: Node, gates: int) -> PerElement:
    """Add Wb and Rb to each gate where there is B."""
    return PerElement(2 * gates if node.input(3) else 0)


def lstm_unit(node: Node, functions: Sequence[PerElement]) -> PerElement:
    """Count one unit of an LSTM: gates i, o, f, c; peepholes of i, o, f; C = f * C + i * c; H = o * h(C).

    With input_forget the forget gate is 1 - i: one subtract instead of its bias, peephole and activation. Its product
    is computed all the same, since W and R hold it.
    """
    f, g, h = functions
    peephole = PerElement(2 if node.input(7) else 0)  # multiply by the cell, add
    gate = _bias(node, 1) + peephole + f
    forget = PerElement(1) if node.attr("input_forget", 0) else gate
    return gate + gate + forget + _bias(node, 1) + g + PerElement(3) + h + PerElement(1)


def gru_unit(node: Node, functions: Sequence[PerElement]) -> PerElement:
    """Count one unit of a GRU: gates z, r; candidate h; H = (1 - z) * h + z * H.

    The reset gate multiplies H before the product. With linear_before_reset it multiplies the product, which is then
    added to that of the input in an add of its own.
    """
    f, g = functions
    reset = PerElement(2 if node.attr("linear_before_reset", 0) else 1)
    return _bias(node, 3) + f + f + reset + g + PerElement(4)


def rnn_unit(node: Node, functions: Sequence[PerElement]) -> PerElement:
    """Count one unit of a simple recurrent layer: H = f(X W + H R + Wb + Rb)."""
    return _bias(node, 1) + functions[0]


@cost("LSTM")
def lstm(node: Node) -> Cost:
    """Cost an LSTM: four gates."""
    return recurrent(node, 4, ["Sigmoid", "Tanh", "Tanh"], lstm_unit)


@cost("GRU")
def gru(node: Node) -> Cost:
    """Cost a GRU: three gates."""
    return recurrent(node, 3, ["Sigmoid", "Tanh"], gru_unit)


@cost("RNN")
def rnn(node: Node) -> Cost:
    """Cost a simple recurrent layer: one gate."""
    return recurrent(node, 1, ["Tanh"], rnn_unit)

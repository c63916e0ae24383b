"""Recurrent layers: back through the steps, the gradient of a hidden state is a product with R in every step.

The first step has none to give, unless the initial state needs a gradient. Gates and states are kept, as they are after
their functions; the candidate's product too where a GRU multiplies it by the reset gate.

The work on one unit in one step, all functions as by default, biases apart:

    LSTM  dh; do = dh * t (t = tanh(c)); dc + dh * o * (1 - t * t); di, df, dg, dc back; three sigmoids, one tanh: 23
    GRU   dh; dz = dh * (h - n); dn = dh * (1 - z); dh * z and its add; tanh; dr, back by r; two sigmoids: 18
    RNN   dh; tanh: 4
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.recurrent import directions_of
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward

DEFAULTS = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}
WORK = {"LSTM": 23, "GRU": 18, "RNN": 4}
X, W, R, B, H = 0, 1, 2, 3, 5  # positions of the inputs


def _check_functions(node: Node, directions: int) -> None:
    functions: Sequence[str] = node.attr("activations") or []
    usual = DEFAULTS[node.op_type] * directions
    if functions and [name.lower() for name in functions] != usual:
        raise Unknown(
            f"the backward cost of {node.op_type} is known for {', '.join(usual)}, not {', '.join(functions)}"
        )


def recurrent(node: Node, wants: Wants, gates: int, kept: int) -> Gradient:
    """A layer of so many gates, which keeps so many numbers of each unit in each step beside its output."""
    directions = directions_of(node)
    _check_functions(node, directions)
    steps, batch = (node.x.shape[axis] for axis in _axes(node))
    hidden, width = node.required(R).shape[-1], node.x.shape[-1]
    lanes = batch * directions * hidden  # units in one step
    units = steps * lanes
    by_input, by_state = units * gates * width, units * gates * hidden
    macs = {X: by_input, W: by_input, R: by_state, H: lanes * gates * hidden}
    return Gradient(
        macs={position: count for position, count in macs.items() if position in wants},
        inner_macs=(units - lanes) * gates * hidden,
        other_flops=units * (WORK[node.op_type] + (gates if B in wants else 0)),
        saves=(node.x if W in wants else None, *_states(node)),
        kept=(*_states_kept(node, units), Kept(units * kept, node.x.dtype or "float32", precise=False)),
    )


def _axes(node: Node) -> tuple[int, int]:
    """Axes of steps and batch."""
    return (1, 0) if node.attr("layout", 0) else (0, 1)


def _states(node: Node) -> tuple[Tensor | None, ...]:
    """Hidden states of all steps, and the first ones."""
    return node.output(0), node.input(H)


def _states_kept(node: Node, units: Dim) -> tuple[Kept, ...]:
    """The hidden states where the graph has no tensor of all of them."""
    return () if node.output(0) else (Kept(units, node.x.dtype or "float32", precise=False),)


@backward("LSTM")
def lstm(node: Node, wants: Wants) -> Gradient:
    """Four gates, the cell and its tanh are kept."""
    found = recurrent(node, wants, 4, 6)
    peepholes = 6 * node.x.shape[0] * node.x.shape[1] * node.required(R).shape[-1] * directions_of(node)
    more = peepholes if node.input(7) else 0  # three products for each unit, and what each weight sums
    return replace(found, other_flops=found.other_flops + more, saves=(*found.saves, node.input(6)))


@backward("GRU")
def gru(node: Node, wants: Wants) -> Gradient:
    """Three gates, and the candidate's product, or the state that the reset gate let through."""
    return recurrent(node, wants, 3, 4)


@backward("RNN")
def rnn(node: Node, wants: Wants) -> Gradient:
    """The output is all that is kept."""
    return recurrent(node, wants, 1, 0)

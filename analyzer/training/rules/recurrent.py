"""Recurrent layers: back through the steps, the gradient of a hidden state is a product with R in every step.

The first step has none to give, unless the initial state needs a gradient. Gates and states are kept, as they are after
their functions, and as they are before where the slope of a function is made from that; the candidate's product too
where a GRU multiplies it by the reset gate.

The work on one unit in one step, biases apart, and `slope` that of a function's derivative (3 of a sigmoid or tanh):

    LSTM  dh; do = dh * t (t = h(c)); dc + dh * o * slope; di, df, dg, dc back: 8, three slopes of f, one of g, one of h
    GRU   dh; dz = dh * (h - n); dn = dh * (1 - z); dh * z and its add; dr, back by r: 9, two slopes of f, one of g
    RNN   dh: 1, one slope of f
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.rules.activations import PerElement
from neural_cost.analyzer.rules.recurrent import directions_of
from neural_cost.analyzer.training.registry import Gradient, Kept, Wants, backward
from neural_cost.analyzer.training.rules.activations import Slope, slope_of

X, W, R, B, H = 0, 1, 2, 3, 5  # positions of the inputs


class Cell(NamedTuple):
    """A cell: gates, the default functions, how often each stands in it, work beside their slopes, numbers kept."""

    gates: int
    functions: Sequence[str]
    times: Sequence[int]
    work: int
    kept: int


CELLS = {
    "LSTM": Cell(4, ["sigmoid", "tanh", "tanh"], [3, 1, 1], 8, 6),
    "GRU": Cell(3, ["sigmoid", "tanh"], [2, 1], 9, 4),
    "RNN": Cell(1, ["tanh"], [1], 1, 0),
}
CLIP = PerElement(2)  # what goes into a function is compared with both bounds


def recurrent(node: Node, wants: Wants) -> Gradient:
    """A layer of so many gates, which keeps so many numbers of each unit in each step beside its output."""
    cell, directions = CELLS[node.op_type], directions_of(node)
    slopes = _slopes(node, cell, directions)
    steps, batch = (node.x.shape[axis] for axis in _axes(node))
    hidden, width = node.required(R).shape[-1], node.x.shape[-1]
    one_way = steps * batch * hidden  # units of one direction
    lanes = batch * directions * hidden  # units in one step
    units = steps * lanes
    by_input, by_state = units * cell.gates * width, units * cell.gates * hidden
    macs = {X: by_input, W: by_input, R: by_state, H: lanes * cell.gates * hidden}
    kept = one_way * (directions * cell.kept + sum(slope.keeps == "input" for slope in slopes))
    bias = cell.gates if B in wants else 0
    return Gradient(
        macs={position: count for position, count in macs.items() if position in wants},
        inner_macs=(units - lanes) * cell.gates * hidden,
        other_flops=units * (cell.work + bias) + one_way * sum(slope.work.flops for slope in slopes),
        special_ops=one_way * sum(slope.work.special for slope in slopes),
        saves=(node.x if W in wants else None, *_states(node)),
        kept=(*_states_kept(node, units), Kept(kept, node.x.dtype or "float32", precise=False)),
    )


def _slopes(node: Node, cell: Cell, directions: int) -> list[Slope]:
    """Of all functions in all directions, each as often as a unit has it. Raises Unknown for one without a formula."""
    names: Sequence[str] = node.attr("activations") or [*cell.functions] * directions
    if len(names) < directions * len(cell.functions):
        raise Unknown(f"{node.op_type} has {len(names)} activations and needs {directions * len(cell.functions)}")
    if node.attr("input_forget", 0):
        raise Unknown("its backward cost is not known where input and forget gate are one")
    clips = node.attr("clip") is not None
    times = [*cell.times] * directions
    return [_slope(name, clips=clips) for name, count in zip(names, times, strict=False) for _ in range(count)]


def _slope(name: str, *, clips: bool) -> Slope:
    slope = slope_of(name)
    return Slope(slope.work + CLIP, "input") if clips else slope


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
    found = recurrent(node, wants)
    peepholes = 6 * node.x.shape[0] * node.x.shape[1] * node.required(R).shape[-1] * directions_of(node)
    more = peepholes if node.input(7) else 0  # three products for each unit, and what each weight sums
    return replace(found, other_flops=found.other_flops + more, saves=(*found.saves, node.input(6)))


@backward("GRU")
def gru(node: Node, wants: Wants) -> Gradient:
    """Three gates, and the candidate's product, or the state that the reset gate let through."""
    return recurrent(node, wants)


@backward("RNN")
def rnn(node: Node, wants: Wants) -> Gradient:
    """The output is all that is kept."""
    return recurrent(node, wants)

import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

# Steps 5, batch 3, input 4, hidden 6: 5 * 3 * 6 = 90 units a direction. Activations as (FLOPs, special):
# sigmoid (3, 2), tanh (1, 1), relu (1, 0).
X, X_BATCH_FIRST = (5, 3, 4), (3, 5, 4)
STATE = (1, 3, 6)
UNITS = 5 * 3 * 6


def lstm(directions: int = 1) -> list[tuple[int, ...]]:
    return [(directions, 4 * 6, 4), (directions, 4 * 6, 6)]


ROWS = [
    Row(
        "lstm_bare", "LSTM", [X, *lstm()], [(5, 1, 3, 6), STATE, STATE], {"hidden_size": 6},
        macs=UNITS * 4 * (4 + 6),  # gates x (input + hidden)
        other=UNITS * (3 * 3 + 1 + 1 + 3 + 1),  # 3 sigmoids, tanh of gate and of cell, C = f*C + i*c, H = o*h
        special=UNITS * (3 * 2 + 1 + 1),
        read=4 * (5 * 3 * 4 + 24 * 4 + 24 * 6), write=4 * (5 * 3 * 6 + 3 * 6 + 3 * 6),
    ),
    Row(
        "lstm_everything", "LSTM",
        [X_BATCH_FIRST, *lstm(2), (2, 48), ((3,), "int32"), (3, 2, 6), (3, 2, 6), (2, 18)], [(3, 5, 2, 6), None, None],
        {"hidden_size": 6, "direction": "bidirectional", "layout": 1},
        macs=2 * UNITS * 4 * (4 + 6),
        other=2 * UNITS * (15 + 4 * 2 + 3 * 2),  # as bare, two biases a gate, peepholes multiply and add on i, o, f
        special=2 * UNITS * 8,
        read=4 * (60 + 2 * 24 * 4 + 2 * 24 * 6 + 2 * 48 + 3 + 36 + 36 + 36), write=4 * (5 * 2 * 3 * 6),
    ),
    Row(
        "lstm_clipped", "LSTM", [X, *lstm()], [None, STATE], {"clip": 3.0},
        macs=UNITS * 40, other=UNITS * (15 + 5 * 2), special=UNITS * 8,  # min and max before each of 5 activations
        write=4 * 3 * 6,
    ),
    Row(
        "lstm_coupled_with_peepholes", "LSTM", [X, *lstm(), (1, 48), None, None, None, (1, 18)], [None, STATE],
        {"input_forget": 1},
        macs=UNITS * 40,  # W and R hold the forget gate, so its product is computed
        other=UNITS * (2 * (2 + 2 + 3) + 1 + (2 + 1) + 3 + 1 + 1),  # i and o; f = 1 - i; c; C; h; H
        special=UNITS * (2 * 2 + 1 + 1),
    ),
    Row(
        "lstm_activations", "LSTM", [X, *lstm(2)], [None, (2, 3, 6)],
        {"direction": "bidirectional", "activations": ["Sigmoid", "Tanh", "Tanh", "relu", "HardSigmoid", "Affine"]},
        macs=2 * UNITS * 40,
        other=UNITS * 15 + UNITS * (3 * 1 + 4 + 2 + 4),  # backward: 3 relu, hard sigmoid of c, affine of C, C and H
        special=UNITS * 8,
    ),
    Row(
        "gru", "GRU", [X, (1, 18, 4), (1, 18, 6), (1, 36), None, STATE], [(5, 1, 3, 6), STATE],
        macs=UNITS * 3 * (4 + 6),
        other=UNITS * (3 * 2 + 2 * 3 + 1 + 1 + 4),  # biases, sigmoids of z and r, r * H, tanh, (1-z)*h + z*H
        special=UNITS * (2 * 2 + 1),
    ),
    Row(
        "gru_linear_before_reset", "GRU", [X, (1, 18, 4), (1, 18, 6)], [(5, 1, 3, 6)],
        {"linear_before_reset": 1, "direction": "reverse"},
        macs=UNITS * 30,
        other=UNITS * (2 * 3 + 2 + 1 + 4),  # r times the product, then the add to that of the input
        special=UNITS * 5,
    ),
    Row(
        "rnn", "RNN", [X, (1, 6, 4), (1, 6, 6), (1, 12)], [(5, 1, 3, 6)], {"activations": ["Tanh", "Tanh"]},
        macs=UNITS * 1 * (4 + 6), other=UNITS * (2 + 1), special=UNITS,
    ),
    Row(
        "rnn_relu_both_ways", "RNN", [X, (2, 6, 4), (2, 6, 6)], [(5, 2, 3, 6)],
        {"activations": ["Relu", "Relu"], "direction": "bidirectional"},
        macs=2 * UNITS * (4 + 6), other=2 * UNITS * 1,
    ),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["recurrent"], ROWS) == set()


@pytest.mark.parametrize(("names", "why"), [(["Sigmoid"], "1 activations"), (["A", "Tanh", "Tanh"], "activation A")])
def test_activations_that_are_not_known_are_unknown(names: list[str], why: str) -> None:
    with pytest.raises(Unknown, match=why):
        cost_of("LSTM", [X, *lstm()], [(5, 1, 3, 6)], activations=names)

"""What each canonical family must show, worked by hand from its definition."""

from __future__ import annotations

from dataclasses import dataclass

BATCH = 16
STEPS = 32
WIDTH = 128


@dataclass(frozen=True)
class Expected:
    parameters: int
    macs: int  # at BATCH, so dense FLOPs are twice this
    mflops: float  # dense FLOPs as issue tables print them, rounded to 0.1 M
    in_file: int  # float elements among the file's initializers
    modules: frozenset[str]  # scopes that must be found on nodes


HEAD = WIDTH * 10 + 10  # dense layer to 10 logits, with bias
NORM = 2 * WIDTH  # scale and bias

DNN_PARAMETERS = (784 * WIDTH + WIDTH + NORM) + (WIDTH * WIDTH + WIDTH + NORM) + HEAD
DNN_MACS = BATCH * (784 * WIDTH + WIDTH * WIDTH + WIDTH * 10)

CNN_FOLDED = (3 * 3 * 3 * 64 + 64) + (3 * 3 * 64 * 128 + 128) + HEAD
CNN_PARAMETERS = CNN_FOLDED + 2 * 64 + 2 * 128  # BatchNorm scale and bias; its statistics are no parameters
CNN_MACS = BATCH * (
    32 * 32 * 64 * (3 * 3 * 3)  # H*W*M x kh*kw*C
    + 16 * 16 * 128 * (3 * 3 * 64)  # after the 2x2 pooling
    + 128 * 10
)

CELL = WIDTH * (WIDTH + WIDTH)  # one gate: hidden x (input + hidden), no bias
RNN_PARAMETERS = 2 * CELL + HEAD
RNN_MACS = BATCH * (2 * STEPS * CELL + WIDTH * 10)
LSTM_PARAMETERS = 2 * 4 * CELL + HEAD  # 4 gates
LSTM_MACS = BATCH * (2 * STEPS * 4 * CELL + WIDTH * 10)

ENCODER_LAYER = (
    (3 * WIDTH * WIDTH + 3 * WIDTH)  # query, key, value
    + (WIDTH * WIDTH + WIDTH)  # output projection
    + (WIDTH * 512 + 512)
    + (512 * WIDTH + WIDTH)
    + 2 * NORM
)
ENCODER_LAYER_MACS = (
    STEPS * (4 * WIDTH * WIDTH + 2 * WIDTH * 512)  # projections, and the FFN
    + 2 * STEPS * STEPS * WIDTH  # query x key, and scores x value; the heads share the width
)
TRANSFORMER_PARAMETERS = 2 * ENCODER_LAYER + HEAD
TRANSFORMER_MACS = BATCH * (2 * ENCODER_LAYER_MACS + WIDTH * 10)

EXPECTED = {
    "dnn": Expected(DNN_PARAMETERS, DNN_MACS, 3.8, DNN_PARAMETERS, frozenset({"hidden1.dense", "hidden2.norm"})),
    "cnn": Expected(CNN_PARAMETERS, CNN_MACS, 660.6, CNN_FOLDED, frozenset({"block1.relu", "block2", "pool"})),
    "rnn": Expected(RNN_PARAMETERS, RNN_MACS, 67.1, RNN_PARAMETERS, frozenset({"recurrent", "classifier"})),
    "lstm": Expected(
        LSTM_PARAMETERS,
        LSTM_MACS,
        268.5,
        LSTM_PARAMETERS + 1,  # the 0 that fills the initial state
        frozenset({"recurrent", "classifier"}),
    ),
    "transformer": Expected(
        TRANSFORMER_PARAMETERS,
        TRANSFORMER_MACS,
        419.5,
        TRANSFORMER_PARAMETERS + 1,  # the scale of the query
        frozenset({"encoder.layers.0.self_attn", "encoder.layers.1.linear2"}),
    ),
}

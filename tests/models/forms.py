"""Closed forms of the two families that have no committed file: parameters, and MACs at BATCH."""

from __future__ import annotations

from tests.models.families import BATCH, CELL, EXPECTED, HEAD, STEPS, WIDTH

GRU_PARAMETERS = 2 * 3 * CELL + HEAD  # 3 gates
GRU_MACS = BATCH * (2 * STEPS * 3 * CELL + WIDTH * 10)

WIDE_CELL = WIDTH * (2 * WIDTH + WIDTH)  # the second layer reads both directions
BILSTM_PARAMETERS = 2 * 4 * (CELL + WIDE_CELL) + (2 * WIDTH * 10 + 10)  # 2 directions, 4 gates
BILSTM_MACS = BATCH * (STEPS * 2 * 4 * (CELL + WIDE_CELL) + 2 * WIDTH * 10)

FORMS = {name: (expected.parameters, expected.macs) for name, expected in EXPECTED.items()} | {
    "gru": (GRU_PARAMETERS, GRU_MACS),
    "bilstm": (BILSTM_PARAMETERS, BILSTM_MACS),
}
FOLDED = {"cnn": EXPECTED["cnn"].in_file}  # where an exporter folds BatchNorm into convolutions

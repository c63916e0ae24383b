"""Keras layers, each exported, run, compared and costed against a count by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import neural_cost

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("tensorflow")
    import keras
    from keras import layers as k

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]
BATCH = 2
LINE, IMAGE, CUBE = (8, 3), (8, 8, 3), (4, 4, 4, 3)
CELL = 5 * (3 + 5)  # one gate of 5 units over 3 features

# layer, input shape, parameters, MACs of one sample, elements of one output
LAYERS = {
    "Dense": (lambda: k.Dense(5), (4,), 4 * 5 + 5, 4 * 5, 5),
    "Conv1D": (lambda: k.Conv1D(5, 3), LINE, 3 * 3 * 5 + 5, 6 * 3 * 3 * 5, 6 * 5),
    "Conv2D": (lambda: k.Conv2D(5, 3), IMAGE, 9 * 3 * 5 + 5, 36 * 9 * 3 * 5, 36 * 5),
    "Conv2D same, stride 2": (
        lambda: k.Conv2D(5, 3, 2, padding="same"), IMAGE, 9 * 3 * 5 + 5, 16 * 9 * 3 * 5, 16 * 5,
    ),
    "Conv3D": (lambda: k.Conv3D(5, 3), CUBE, 27 * 3 * 5 + 5, 8 * 27 * 3 * 5, 8 * 5),
    "SimpleRNN": (lambda: k.SimpleRNN(5), LINE, CELL + 5, 8 * CELL, 5),
    "SimpleRNN without bias": (lambda: k.SimpleRNN(5, use_bias=False), LINE, CELL, 8 * CELL, 5),
    "LSTM": (lambda: k.LSTM(5), LINE, 4 * CELL + 20, 8 * 4 * CELL, 5),
    "LSTM, bias of zeros": (lambda: k.LSTM(5, unit_forget_bias=False), LINE, 4 * CELL + 20, 8 * 4 * CELL, 5),
    "LSTM without bias": (lambda: k.LSTM(5, use_bias=False), LINE, 4 * CELL, 8 * 4 * CELL, 5),
    "GRU": (lambda: k.GRU(5), LINE, 3 * CELL + 2 * 15, 8 * 3 * CELL, 5),  # a bias for the input, and one for the state
    "GRU without bias": (lambda: k.GRU(5, use_bias=False), LINE, 3 * CELL, 8 * 3 * CELL, 5),
    "Bidirectional": (
        lambda: k.Bidirectional(k.LSTM(5)), LINE, 2 * (4 * CELL + 20), 2 * 8 * 4 * CELL, 2 * 5,
    ),
    "Bidirectional without bias": (
        lambda: k.Bidirectional(k.LSTM(5, use_bias=False)), LINE, 2 * 4 * CELL, 2 * 8 * 4 * CELL, 2 * 5,
    ),
    "TimeDistributed": (lambda: k.TimeDistributed(k.Dense(5)), LINE, 3 * 5 + 5, 8 * 3 * 5, 8 * 5),
    "MaxPooling1D": (lambda: k.MaxPooling1D(2), LINE, 0, 0, 4 * 3),
    "MaxPooling2D": (lambda: k.MaxPooling2D(2), IMAGE, 0, 0, 16 * 3),
    "MaxPooling3D": (lambda: k.MaxPooling3D(2), CUBE, 0, 0, 8 * 3),
    "AveragePooling1D": (lambda: k.AveragePooling1D(2), LINE, 0, 0, 4 * 3),
    "AveragePooling2D": (lambda: k.AveragePooling2D(2), IMAGE, 0, 0, 16 * 3),
    "AveragePooling3D": (lambda: k.AveragePooling3D(2), CUBE, 0, 0, 8 * 3),
    "GlobalMaxPooling1D": (k.GlobalMaxPooling1D, LINE, 0, 0, 3),
    "GlobalMaxPooling2D": (k.GlobalMaxPooling2D, IMAGE, 0, 0, 3),
    "GlobalMaxPooling3D": (k.GlobalMaxPooling3D, CUBE, 0, 0, 3),
    "GlobalAveragePooling1D": (k.GlobalAveragePooling1D, LINE, 0, 0, 3),
    "GlobalAveragePooling2D": (k.GlobalAveragePooling2D, IMAGE, 0, 0, 3),
    "GlobalAveragePooling3D": (k.GlobalAveragePooling3D, CUBE, 0, 0, 3),
    "Flatten": (k.Flatten, LINE, 0, 0, 24),
    "Reshape": (lambda: k.Reshape((4, 6)), LINE, 0, 0, 24),
    "RepeatVector": (lambda: k.RepeatVector(5), (3,), 0, 0, 15),
    "Lambda": (lambda: k.Lambda(lambda x: x * 2), LINE, 0, 0, 24),
    "Permute": (lambda: k.Permute((2, 1)), LINE, 0, 0, 24),
    "Activation": (lambda: k.Activation("tanh"), LINE, 0, 0, 24),
    "LeakyReLU": (k.LeakyReLU, LINE, 0, 0, 24),
    "PReLU": (k.PReLU, LINE, 24, 0, 24),
    "ELU": (k.ELU, LINE, 0, 0, 24),
    "Softmax": (k.Softmax, LINE, 0, 0, 24),
    "ReLU": (k.ReLU, LINE, 0, 0, 24),
    "UpSampling1D": (lambda: k.UpSampling1D(2), LINE, 0, 0, 48),
    "UpSampling2D": (lambda: k.UpSampling2D(2), IMAGE, 0, 0, 4 * 192),
    "UpSampling3D": (lambda: k.UpSampling3D(2), CUBE, 0, 0, 8 * 192),
    "ZeroPadding1D": (lambda: k.ZeroPadding1D(1), LINE, 0, 0, 10 * 3),
    "ZeroPadding2D": (lambda: k.ZeroPadding2D(1), IMAGE, 0, 0, 100 * 3),
    "ZeroPadding3D": (lambda: k.ZeroPadding3D(1), CUBE, 0, 0, 216 * 3),
    "Dropout": (lambda: k.Dropout(0.5), LINE, 0, 0, 24),
}  # fmt: skip
MERGES = ["Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"]


def exported(model, inputs, folder):
    return neural_cost.export(model, inputs, folder / "a.onnx")


def data(*shape):
    return np.random.default_rng(0).standard_normal((BATCH, *shape)).astype(np.float32)


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name, tmp_path):
    layer, shape, parameters, macs, elements = LAYERS[name]
    inputs = keras.Input(shape)
    made = exported(keras.Model(inputs, layer()(inputs)), data(*shape), tmp_path)
    totals = neural_cost.analyze(made.path, dims={"batch": BATCH}).totals
    assert totals.macs == BATCH * macs
    assert totals.parameters == parameters
    assert totals.complete
    assert np.prod(made.parity.outputs[0].shape) == BATCH * elements


@pytest.mark.parametrize("name", MERGES)
def test_layer_of_two_inputs(name, tmp_path):
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    made = exported(keras.Model([a, b], getattr(k, name)()([a, b])), [data(4), data(4) + 1], tmp_path)
    totals = neural_cost.analyze(made.path, dims={"batch": BATCH}).totals
    assert (totals.macs, totals.parameters, totals.complete) == (0, 0, True)
    assert np.prod(made.parity.outputs[0].shape) == BATCH * (8 if name == "Concatenate" else 4)


def test_embedding_takes_indices(tmp_path):
    inputs = keras.Input((6,), dtype="int32")
    indices = np.arange(2 * 6, dtype=np.int32).reshape(2, 6)
    made = exported(keras.Model(inputs, k.Embedding(20, 4)(inputs)), indices, tmp_path)
    totals = neural_cost.analyze(made.path, dims={"batch": BATCH}).totals
    assert (totals.macs, totals.parameters) == (0, 20 * 4)
    assert made.parity.outputs[0].shape == (2, 6, 4)


def test_batch_normalization(tmp_path):
    inputs = keras.Input(IMAGE)
    model = keras.Model(inputs, k.BatchNormalization()(inputs))
    made = exported(model, data(*IMAGE), tmp_path)
    totals = neural_cost.analyze(made.path, dims={"batch": BATCH}).totals
    assert (totals.macs, totals.parameters, totals.complete) == (0, 2 * 3, True)
    assert made.parity.max_abs_diff < 1e-5

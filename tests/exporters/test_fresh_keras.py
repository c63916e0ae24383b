"""Models that nobody trained: weights are equal there, zeros and ones, and none may be lost or counted twice."""

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

pytestmark = pytest.mark.filterwarnings("ignore")
LINE, IMAGE = (8, 3), (8, 8, 3)
LSTM = 4 * (5 * (3 + 5) + 5)  # gates of 5 units over 3 features, each with a bias

# layers in a row, input shape, parameters
STACKS = {
    "Dense": ([k.Dense(5), k.Dense(5), k.Dense(5)], (5,), 3 * (5 * 5 + 5)),
    "Conv2D": ([k.Conv2D(3, 3), k.Conv2D(3, 3)], IMAGE, 2 * (9 * 3 * 3 + 3)),
    "Dense and BatchNormalization": ([k.Dense(5), k.BatchNormalization()], (4,), 4 * 5 + 5 + 2 * 5),
    "Conv2D and BatchNormalization": ([k.Conv2D(5, 3), k.BatchNormalization()], IMAGE, 9 * 3 * 5 + 5 + 2 * 5),
    "BatchNormalization": ([k.BatchNormalization(), k.ReLU(), k.BatchNormalization()], IMAGE, 2 * 2 * 3),
    "LayerNormalization": ([k.LayerNormalization(), k.LayerNormalization()], LINE, 2 * 2 * 3),
    "LSTM": ([k.LSTM(3, return_sequences=True), k.LSTM(3)], LINE, 2 * 4 * (3 * (3 + 3) + 3)),
    "Bidirectional GRU": ([k.Bidirectional(k.GRU(5))], LINE, 2 * 3 * (5 * (3 + 5) + 2 * 5)),
    "a bias of zeros and none": ([k.LSTM(3, unit_forget_bias=False, return_sequences=True), k.LSTM(3, use_bias=False)],
                                 LINE, 4 * (3 * (3 + 3) + 3) + 4 * 3 * (3 + 3)),
}  # fmt: skip

# a layer that two inputs go through, input shape, parameters
SHARED = {
    "Dense": (k.Dense(5), (4,), 4 * 5 + 5),
    "Conv2D": (k.Conv2D(5, 3), IMAGE, 9 * 3 * 5 + 5),
    "Conv2D of ones": (k.Conv2D(5, 3, kernel_initializer="ones"), IMAGE, 9 * 3 * 5 + 5),
    "BatchNormalization": (k.BatchNormalization(), IMAGE, 2 * 3),
    "LSTM": (k.LSTM(5), LINE, LSTM),
    "LSTM, bias of zeros": (k.LSTM(5, unit_forget_bias=False), LINE, LSTM),
}


def parameters(model, folder):
    made = neural_cost.export(model, None, folder / "a.onnx")
    found = neural_cost.analyze(made.path, dims={"batch": 2}).totals
    assert found.complete
    assert made.notes == ()
    return found.parameters


@pytest.mark.parametrize("name", STACKS)
def test_equal_weights_are_kept_apart(name, tmp_path):
    stack, shape, expected = STACKS[name]
    assert parameters(keras.Sequential([keras.Input(shape), *stack]), tmp_path) == expected


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_weight_counts_once(name, tmp_path):
    layer, shape, expected = SHARED[name]
    inputs = [keras.Input(shape, name="left"), keras.Input(shape, name="right")]
    assert parameters(keras.Model(inputs, [layer(each) for each in inputs]), tmp_path) == expected


def test_copies_of_trained_weights_are_kept_apart(tmp_path):
    """Two convolutions that were given the same numbers are two, and trained apart."""
    first, second = k.Conv2D(3, 3), k.Conv2D(3, 3)
    model = keras.Sequential([keras.Input(IMAGE), first, second])
    drawn = [np.random.default_rng(0).standard_normal(each.shape).astype(np.float32) for each in first.get_weights()]
    first.set_weights(drawn)
    second.set_weights(drawn)
    assert parameters(model, tmp_path) == 2 * (9 * 3 * 3 + 3)


def test_attention_has_all_its_biases(tmp_path):
    """Of queries, keys, values and the output: 2 heads of 8 of a width of 16."""
    inputs = keras.Input((6, 16))
    model = keras.Model(inputs, k.MultiHeadAttention(2, 8)(inputs, inputs))
    assert parameters(model, tmp_path) == 4 * (16 * 16 + 16)


@pytest.mark.parametrize("made", [True, False])
def test_it_stands_in_recurrent_operators(tmp_path, made):
    """LSTM stays one operator, with a bias where the layer has one."""
    import onnx

    model = keras.Sequential([keras.Input(LINE), k.LSTM(5, use_bias=made)])
    neural_cost.export(model, None, tmp_path / "a.onnx")
    (node,) = (each for each in onnx.load(tmp_path / "a.onnx").graph.node if each.op_type == "LSTM")
    assert bool(node.input[3]) is made

"""ModelSummary against hand tables: of each layer that NNS has, and of networks whose figures NNS states."""

from __future__ import annotations

import pytest

import neural_cost

keras = pytest.importorskip("keras")
L = keras.layers
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")

FLOAT = 4
# layer, shape that it reads, parameters, MACs, elements of activations
TABLE = [
    (lambda: L.Dense(5), (3,), 3 * 5 + 5, 3 * 5, 5),
    (lambda: L.Dense(5, activation="relu", use_bias=False), (3,), 3 * 5, 3 * 5, 2 * 5),
    (lambda: L.Dense(5), (7, 3), 3 * 5 + 5, 7 * 3 * 5, 7 * 5),
    (lambda: L.Conv1D(5, 3), (10, 2), 3 * 2 * 5 + 5, 8 * 5 * (3 * 2), 8 * 5),
    (lambda: L.Conv2D(5, (3, 2), padding="same", activation="tanh"), (8, 6, 4), 3 * 2 * 4 * 5 + 5,
     8 * 6 * 5 * (3 * 2 * 4), 2 * 8 * 6 * 5),
    (lambda: L.Conv2D(6, 3, strides=2, groups=2), (9, 9, 4), 3 * 3 * 2 * 6 + 6, 4 * 4 * 6 * (3 * 3 * 2), 4 * 4 * 6),
    (lambda: L.Conv3D(2, 2), (4, 4, 4, 3), 8 * 3 * 2 + 2, 27 * 2 * (8 * 3), 27 * 2),
    (lambda: L.Conv2DTranspose(5, 2, strides=2), (4, 4, 3), 4 * 3 * 5 + 5, 4 * 4 * 3 * (4 * 5), 8 * 8 * 5),
    (lambda: L.DepthwiseConv2D(3), (6, 6, 2), 9 * 2 + 2, 4 * 4 * 2 * 9, 4 * 4 * 2),
    (lambda: L.SeparableConv2D(5, 3), (6, 6, 2), 9 * 2 + 2 * 5 + 5, 16 * 2 * 9 + 16 * 2 * 5, 16 * 2 + 16 * 5),
    (lambda: L.SimpleRNN(4), (7, 3), 4 * (3 + 4 + 1), 7 * 4 * (3 + 4), 7 * 4),
    (lambda: L.LSTM(4, return_sequences=True), (7, 3), 4 * 4 * (3 + 4 + 1), 7 * 4 * 4 * (3 + 4), 7 * 4),
    (lambda: L.GRU(4), (7, 3), 3 * 4 * (3 + 4 + 2), 7 * 3 * 4 * (3 + 4), 7 * 4),
    (lambda: L.RNN([L.LSTMCell(4), L.SimpleRNNCell(2)]), (7, 3), 4 * 4 * (3 + 4 + 1) + 2 * (4 + 2 + 1),
     7 * 4 * 4 * (3 + 4) + 7 * 2 * (4 + 2), 7 * 4 + 7 * 2),
    (lambda: L.Bidirectional(L.LSTM(4)), (7, 3), 2 * 4 * 4 * (3 + 4 + 1), 2 * 7 * 4 * 4 * (3 + 4), 2 * 7 * 4),
    (lambda: L.TimeDistributed(L.Dense(5, activation="relu")), (7, 3), 3 * 5 + 5, 7 * 3 * 5, 7 * 2 * 5),
    (lambda: L.TimeDistributed(L.Conv2D(2, 3)), (7, 5, 5, 1), 9 * 2 + 2, 7 * 9 * 2 * 9, 7 * 9 * 2),
    (L.BatchNormalization, (8, 3), 4 * 3, 0, 8 * 3),
    (L.PReLU, (8, 3), 8 * 3, 0, 8 * 3),
]  # fmt: skip
FREE = [
    (lambda: L.Dropout(0.5), (6, 4), 24), (L.GlobalMaxPooling1D, (6, 4), 4),
    (L.GlobalMaxPooling2D, (6, 4, 2), 2), (L.GlobalMaxPooling3D, (6, 4, 2, 3), 3),
    (L.GlobalAveragePooling1D, (6, 4), 4), (L.GlobalAveragePooling2D, (6, 4, 2), 2),
    (L.GlobalAveragePooling3D, (6, 4, 2, 3), 3), (lambda: L.AveragePooling1D(2), (6, 4), 12),
    (lambda: L.AveragePooling2D(2), (6, 4, 2), 12), (lambda: L.AveragePooling3D(2), (6, 4, 2, 3), 18),
    (lambda: L.MaxPooling1D(2), (6, 4), 12), (lambda: L.MaxPooling2D(2), (6, 4, 2), 12),
    (lambda: L.MaxPooling3D(2), (6, 4, 2, 3), 18), (L.Flatten, (6, 4), 24),
    (lambda: L.Reshape((8, 3)), (6, 4), 24), (lambda: L.RepeatVector(5), (4,), 20),
    (lambda: L.Lambda(lambda x: x * 2.0), (6, 4), 24), (lambda: L.Permute((2, 1)), (6, 4), 24),
    (lambda: L.Activation("relu"), (6, 4), 24), (L.LeakyReLU, (6, 4), 24), (L.ELU, (6, 4), 24),
    (L.Softmax, (6, 4), 24), (L.ReLU, (6, 4), 24), (lambda: L.UpSampling1D(2), (6, 4), 48),
    (lambda: L.UpSampling2D(2), (6, 4, 1), 96), (lambda: L.UpSampling3D(2), (2, 2, 2, 1), 64),
    (lambda: L.ZeroPadding1D(1), (6, 4), 32), (lambda: L.ZeroPadding2D(1), (6, 4, 1), 48),
    (lambda: L.ZeroPadding3D(1), (1, 1, 1, 2), 54),
]  # fmt: skip
MERGES = ["Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"]


def summary_of(layer, shape):
    entry = keras.Input(shape)
    return neural_cost.ModelSummary(keras.Model(entry, layer(entry)))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: type(row[0]()).__name__)
def test_layers_have_the_figures_of_the_hand_table(row):
    make, shape, parameters, macs, elements = row
    found = summary_of(make(), shape)
    assert found.complete
    assert found.total() == {
        "parameters": parameters, "forward_macs": macs, "backward_macs": 2 * macs, "training_macs": 3 * macs,
        "forward_bytes": FLOAT * elements, "training_bytes": 2 * FLOAT * elements,
    }  # fmt: skip


@pytest.mark.parametrize("row", FREE, ids=lambda row: type(row[0]()).__name__)
def test_layers_without_products_have_memory_alone(row):
    make, shape, elements = row
    found = summary_of(make(), shape)
    assert found.complete
    assert (found.total()["forward_macs"], found.total()["forward_bytes"]) == (0, FLOAT * elements)


@pytest.mark.parametrize("name", MERGES)
def test_merges_have_memory_alone(name):
    first, second = keras.Input((6, 4)), keras.Input((6, 4))
    found = neural_cost.ModelSummary(keras.Model([first, second], getattr(L, name)()([first, second])))
    assert (found.complete, found.total()["forward_macs"], found.total()["forward_bytes"]) == (True, 0, FLOAT * 24)


def test_concatenate_gives_both():
    first, second = keras.Input((6, 4)), keras.Input((6, 2))
    found = neural_cost.ModelSummary(keras.Model([first, second], L.Concatenate()([first, second])))
    assert found.total()["forward_bytes"] == FLOAT * 36


def test_attention():
    found = summary_of(lambda x: L.MultiHeadAttention(2, 3)(x, x), (5, 8))
    assert (
        found.total()["forward_macs"] == 3 * 5 * 8 * 6 + 5 * 6 * 8 + 2 * 2 * 5 * 5 * 3
    )  # Q, K, V; output; two products


def test_a_batch_and_a_table():
    found = summary_of(L.Dense(5), (3,))
    assert found.total(batch=32)["training_macs"] == 3 * 32 * 15
    table = found.to_dataframe(batch=32)
    assert list(table["layer"])[-1] == "total"
    assert list(table["forward_macs"])[-1] == 32 * 15
    assert "multiply-add" in str(found)
    assert found.to_dict(batch=2)["total"]["forward_macs"] == 30


def test_a_shared_layer_costs_twice_and_has_its_parameters_once():
    entry, dense = keras.Input((3,)), L.Dense(3)
    found = neural_cost.ModelSummary(keras.Model(entry, dense(dense(entry))))
    assert (found.parameters, found.total()["forward_macs"]) == (3 * 3 + 3, 2 * 3 * 3)


def test_a_model_in_each_step_is_all_of_its_layers():
    inner = keras.Sequential([keras.Input((8, 8, 3)), L.Conv2D(4, 3, padding="same"), L.MaxPooling2D()])
    found = summary_of(L.TimeDistributed(inner), (6, 8, 8, 3))
    assert found.complete
    assert (found.parameters, found.total()["forward_macs"]) == (3 * 9 * 4 + 4, 6 * 8 * 8 * 4 * 9 * 3)
    assert found.total()["forward_bytes"] == FLOAT * 6 * (8 * 8 * 4 + 4 * 4 * 4)


def test_models_in_models_are_taken_apart():
    inner = keras.Sequential([keras.Input((3,)), L.Dense(4)], name="inner")
    outer = keras.Sequential([keras.Input((3,)), inner, L.Dense(2)])
    found = neural_cost.ModelSummary(outer)
    assert found.total()["forward_macs"] == 3 * 4 + 4 * 2
    assert any(layer.layer.startswith("inner/") for layer in found.layers)


def test_what_is_not_known_is_listed():
    class Mine(L.Layer):
        def call(self, x):
            return x

    found = summary_of(Mine(), (3,))
    assert (found.complete, [each.why for each in found.unsupported]) == (False, ["there is no rule for Mine"])
    assert "not counted" in str(found)
    open_ = summary_of(L.Dense(2), (None, 3))
    assert "open" in open_.unsupported[0].why


def test_a_model_that_is_not_built_is_refused():
    with pytest.raises(neural_cost.NeuralCostError, match="built"):
        neural_cost.ModelSummary(keras.Sequential([L.Dense(3)]))


def alexnet():
    """Krizhevsky (2014), "One weird trick": 64, 192, 384, 256 and 256 filters, as in torchvision."""
    return keras.Sequential([
        keras.Input((224, 224, 3)), L.ZeroPadding2D(2), L.Conv2D(64, 11, 4, activation="relu"), L.MaxPooling2D(3, 2),
        L.Conv2D(192, 5, padding="same", activation="relu"), L.MaxPooling2D(3, 2),
        L.Conv2D(384, 3, padding="same", activation="relu"), L.Conv2D(256, 3, padding="same", activation="relu"),
        L.Conv2D(256, 3, padding="same", activation="relu"), L.MaxPooling2D(3, 2), L.Flatten(),
        L.Dense(4096, activation="relu"), L.Dense(4096, activation="relu"), L.Dense(1000),
    ])  # fmt: skip


def vgg16():
    """Simonyan and Zisserman (2015), configuration D."""
    blocks = [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]
    layers = [keras.Input((224, 224, 3))]
    for width, count in blocks:
        layers += [L.Conv2D(width, 3, padding="same", activation="relu") for _ in range(count)] + [L.MaxPooling2D(2)]
    return keras.Sequential([*layers, L.Flatten(), L.Dense(4096), L.Dense(4096), L.Dense(1000)])


def resnet50():
    """He et al. (2016), in the form called v1.5: a block that halves the image does so in its 3x3 convolution."""
    x = entry = keras.Input((224, 224, 3))
    x = L.MaxPooling2D(3, 2, padding="same")(L.Conv2D(64, 7, 2, padding="same", use_bias=False)(x))
    for stage, (width, count) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(count):
            stride = 2 if stage and not block else 1
            short = x if block else L.Conv2D(4 * width, 1, stride, use_bias=False)(x)
            x = L.Conv2D(width, 1, use_bias=False)(x)
            x = L.Conv2D(width, 3, stride, padding="same", use_bias=False)(x)
            x = L.Add()([L.Conv2D(4 * width, 1, use_bias=False)(x), short])
    return keras.Model(entry, L.Dense(1000)(L.GlobalAveragePooling2D()(x)))


def lstm():
    """128 units over 210 steps of one feature."""
    return keras.Sequential([keras.Input((210, 1)), L.LSTM(128)])


@pytest.mark.parametrize(
    ("make", "gmacs"), [(alexnet, 0.714188), (vgg16, 15.470264), (resnet50, 4.089184), (lstm, 0.013870)]
)
def test_networks_have_the_figures_that_nns_states(make, gmacs):
    assert round(neural_cost.ModelSummary(make()).total()["forward_macs"] / 1e9, 6) == gmacs

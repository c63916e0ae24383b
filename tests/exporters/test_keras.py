"""Keras and TensorFlow: models, functions, saved models; what tf2onnx gets wrong is caught."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import neural_cost
from neural_cost import ExportError, ModelError
from neural_cost.exporters.keras_exporter import KerasExporter

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # TensorFlow's own, of what it imports
    tf = pytest.importorskip("tensorflow")
    import keras
    from keras import layers

pytestmark = pytest.mark.filterwarnings("ignore")
ROWS, COLUMNS = 3, 4
X = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)
PARAMETERS, MACS = COLUMNS * 5 + 5, COLUMNS * 5  # of a dense layer to 5


@pytest.fixture
def target(tmp_path):
    return tmp_path / "model.onnx"


def dense(activation=None):
    keras.utils.set_random_seed(0)
    inputs = keras.Input((COLUMNS,))
    return keras.Model(inputs, layers.Dense(5, activation)(inputs))


def totals(file, **dims):
    found = neural_cost.analyze(file, dims=dims).totals
    return found.macs, found.parameters


def test_model(target):
    exported = neural_cost.export(dense(), X, target)
    assert (exported.inputs, exported.outputs, exported.opset) == (("input",), ("output",), 18)
    assert exported.dims == {"input": {0: "batch"}}
    assert totals(target, batch=7) == (7 * MACS, PARAMETERS)
    assert [each.sizes["batch"] for each in exported.parity.outputs] == [3, 4, 1]
    assert exported.notes == ()


def test_example_inputs_are_made_up_from_those_that_are_declared(target):
    assert neural_cost.export(dense(), None, target).dims == {"input": {0: "batch"}}


def test_inputs_and_outputs_by_name(target):
    a, b = keras.Input((COLUMNS,), name="left"), keras.Input((COLUMNS,), name="right")
    model = keras.Model({"left": a, "right": b}, {"sum": a + b, "product": a * b})
    exported = neural_cost.export(model, {"left": X, "right": X}, target)
    assert exported.inputs == ("left", "right")
    assert sorted(exported.outputs) == ["product", "sum"]


def test_batch_normalization_and_dropout_are_those_of_inference(target):
    model = keras.Sequential([keras.Input((COLUMNS,)), layers.BatchNormalization(), layers.Dropout(0.5)])
    before = [array.copy() for array in model.get_weights()]
    neural_cost.export(model, X, target)
    assert all(np.array_equal(*pair) for pair in zip(before, model.get_weights(), strict=True))


@pytest.mark.long
def test_keras_file(tmp_path, target):
    dense().save(tmp_path / "a.keras")
    model, inputs = KerasExporter().load(tmp_path / "a.keras")
    neural_cost.export(model, inputs, target)
    assert totals(target, batch=2) == (2 * MACS, PARAMETERS)


def test_a_sequential_that_was_just_read(tmp_path, target):
    """It has never been called, and then does not tell its input."""
    keras.Sequential([keras.Input((COLUMNS,)), layers.Dense(5)]).save(tmp_path / "a.keras")
    neural_cost.export(*KerasExporter().load(tmp_path / "a.keras"), target)
    assert totals(target, batch=2) == (2 * MACS, PARAMETERS)


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_what_is_no_keras_file(tmp_path, content):
    (tmp_path / "a.keras").write_bytes(content)
    with pytest.raises(ModelError, match=r"a\.keras is no \.keras archive, or a part of one: save the model again"):
        KerasExporter().load(tmp_path / "a.keras")


def test_keras_file_with_python_code_is_refused(tmp_path):
    inputs = keras.Input((COLUMNS,))
    keras.Model(inputs, layers.Lambda(lambda x: x + 1)(inputs)).save(tmp_path / "a.keras")
    with pytest.raises(ModelError, match=r"a\.keras cannot be read as a saved model"):
        KerasExporter().load(tmp_path / "a.keras")


@pytest.mark.long
def test_saved_model(tmp_path, target):
    dense().export(tmp_path / "saved", verbose=False)
    assert KerasExporter().reads(tmp_path / "saved")
    neural_cost.export(KerasExporter().load(tmp_path / "saved")[0], None, target)
    assert totals(target, batch=2) == (2 * MACS, PARAMETERS)


def test_function(target):
    @tf.function
    def product(x, y):
        return tf.matmul(x, y)

    exported = neural_cost.export(product, (X, X.T.copy()), target, dynamic_dims={"input_0": {0: "rows"}})
    assert exported.inputs == ("input_0", "input_1")
    assert totals(target, rows=9) == (9 * COLUMNS * ROWS, 0)


def test_a_tensor_that_a_function_closes_over_is_a_weight(target):
    weight, variable = tf.constant(X.T.copy()), tf.Variable(np.ones((ROWS, 2), np.float32))
    exported = neural_cost.export(tf.function(lambda x: tf.nn.relu(x @ weight) @ variable), X, target)
    assert exported.inputs == ("input",)
    assert totals(target, batch=7) == (7 * (COLUMNS * ROWS + ROWS * 2), COLUMNS * ROWS + ROWS * 2)


def test_constants_of_a_layer_are_no_inputs(target):
    """Normalization keeps its mean and variance as tensors, which are no variables."""
    normalize = layers.Normalization(mean=[0.1, 0.2, 0.3, 0.4], variance=[1.0, 2.0, 3.0, 4.0])
    exported = neural_cost.export(keras.Sequential([keras.Input((COLUMNS,)), normalize, layers.Dense(5)]), X, target)
    assert exported.inputs == ("input",)
    assert totals(target, batch=7)[0] == 7 * MACS


def test_a_pass_of_tf2onnx_that_fails_is_skipped(target, monkeypatch):
    from tf2onnx.optimizer import EinsumOptimizer

    def fail(*_):
        raise RuntimeError("a fault of tf2onnx")

    monkeypatch.setattr(EinsumOptimizer, "_optimize", fail)
    exported = neural_cost.export(dense(), X, target)
    assert "converted once more, as a pass failed: a fault of tf2onnx." in exported.warnings
    assert totals(target, batch=7) == (7 * MACS, PARAMETERS)


def test_a_dropped_parameter_is_noted(target):
    """A BatchNormalization that is folded into its convolution leaves the kernel and one number for each channel."""
    inputs = keras.Input((8, 8, 3))
    outputs = layers.BatchNormalization()(layers.Conv2D(5, 3, use_bias=False)(inputs))
    exported = neural_cost.export(keras.Model(inputs, outputs), None, target)
    assert exported.notes == (
        "the file holds 140 of the model's 145 parameters: tf2onnx folds BatchNormalization into convolutions, "
        "and drops what nothing reads",
    )
    assert totals(target, batch=1)[1] == 9 * 3 * 5 + 5 == 140


def test_exact_gelu_is_caught_with_the_way_out(target):
    with pytest.raises(ExportError, match=r"operator Erfc .*use gelu\(approximate=True\)"):
        neural_cost.export(dense("gelu"), X, target)
    assert list(target.parent.iterdir()) == []


def test_a_branch_on_a_tensor_is_named(target):
    @tf.function(autograph=False)
    def signed(x):
        return x if tf.reduce_sum(x) > 0 else -x

    with pytest.raises(ExportError, match=r"branches on the value of a tensor.*use tf\.cond or tf\.where"):
        neural_cost.export(signed, X, target)
    assert list(target.parent.iterdir()) == []


FACTORY = """import numpy as np


def dense():
    import keras

    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(5)]), np.ones((2, 4), np.float32)
"""


@pytest.mark.long
def test_nothing_of_tensorflow_is_printed(tmp_path):
    """Whoever imports it: its first lines heed no level."""
    (tmp_path / "networks.py").write_text(FACTORY, encoding="utf-8")
    command = [sys.executable, "-m", "neural_cost", "export", "networks.py:dense", "-o", "dense.onnx"]
    clean = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}  # tf2onnx sets it
    done = subprocess.run(command, cwd=tmp_path, env=clean, check=True, capture_output=True, text=True, timeout=600)
    assert "dense.onnx: opset 18" in done.stdout
    assert "absl" not in done.stderr
    assert "0000 " not in done.stderr


@pytest.mark.parametrize(
    ("inputs", "options", "message"),
    [
        (
            X[:, :2],
            {},
            r"cannot run on its example inputs \(input \[3, 2\]\): .*found shape=\(3, 2\)\. Give inputs",
        ),
        (X, {"opset": 20}, "tf2onnx writes opset 18 at most"),
    ],
)
def test_one_clear_sentence(target, inputs, options, message):
    with pytest.raises(ExportError, match=message) as caught:
        neural_cost.export(dense(), inputs, target, **options)
    assert "\n" not in str(caught.value)
    assert list(target.parent.iterdir()) == []


def test_content_changes_with_a_weight():
    exporter, model = KerasExporter(), dense()
    first = exporter.content(model, X)
    assert exporter.content(model, X) == first
    model.layers[-1].set_weights([array + 1 for array in model.layers[-1].get_weights()])
    assert exporter.content(model, X) != first

"""JAX: functions, NNX and Equinox modules; known failures give the way out. The first export takes half a minute."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import neural_cost
from neural_cost import ExportError
from neural_cost.exporters.jax_exporter import JaxExporter

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    nnx = pytest.importorskip("flax.nnx")

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]
X = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32)


@pytest.fixture
def target(tmp_path):
    return tmp_path / "model.onnx"


def totals(file, **dims):
    found = neural_cost.analyze(file, dims=dims).totals
    return found.macs, found.parameters


def test_function_with_parameters_closed_over(target):
    exported = neural_cost.export(lambda x: jnp.tanh(x @ W), X, target)
    assert exported.dims == {"input": {0: "batch"}}
    assert totals(target, batch=7) == (7 * 4 * 5, 4 * 5)


def test_compiled_function(target):
    neural_cost.export(jax.jit(lambda x: x @ W), X, target)
    assert totals(target, batch=7) == (7 * 4 * 5, 4 * 5)


def test_function_with_parameters_passed(target):
    exported = neural_cost.export(
        lambda p, x: x @ p["w"] + p["b"], ({"w": W, "b": W[0]}, X), target, dynamic_dims={"input_1": {0: "n"}}
    )
    assert exported.inputs == ("input_0_b", "input_0_w", "input_1")
    assert totals(target, n=2) == (2 * 4 * 5, 0)
    assert "count as no parameters: close over those" in exported.notes[0]


def test_integer_inputs(target):
    neural_cost.export(lambda i: jnp.asarray(W)[i], np.array([0, 3, 1]), target)


def test_module_is_left_alone(target):
    model = nnx.Sequential(nnx.Linear(4, 5, rngs=nnx.Rngs(0)), nnx.Dropout(0.5, rngs=nnx.Rngs(1)))
    model.train()
    neural_cost.export(model, X, target)
    assert model.layers[1].deterministic is False
    assert totals(target, batch=2) == (2 * 4 * 5, 4 * 5 + 5)


def test_equinox(target):
    equinox = pytest.importorskip("equinox")
    layer = equinox.nn.MLP(4, 5, 8, 1, key=jax.random.key(0))
    neural_cost.export(jax.vmap(layer), X, target)
    assert totals(target, batch=2) == (2 * (4 * 8 + 8 * 5), 4 * 8 + 8 + 8 * 5 + 5)


@pytest.mark.parametrize(
    ("function", "inputs", "message"),
    [
        (
            lambda x: x + 1 if x.sum() > 0 else x - 1,
            X,
            r"branches on the value of an array: use jnp\.where or lax\.cond",
        ),
        (lambda x: jax.lax.scan(lambda c, y: (c, y), 0.0, x, reverse=True)[1], X, "flip the sequence before and after"),
        (lambda x: x @ W.T, X, r"cannot run on its example inputs \(input \[3, 4\]\)"),
    ],
    ids=["branch", "reverse scan", "wrong shape"],
)
def test_one_clear_sentence(target, function, inputs, message):
    with pytest.raises(ExportError, match=message) as caught:
        neural_cost.export(function, inputs, target)
    assert "\n" not in str(caught.value)
    assert list(target.parent.iterdir()) == []


def test_content_changes_with_what_is_closed_over():
    exporter = JaxExporter()
    first = exporter.content(lambda x: x @ W, X)
    assert exporter.content(lambda x: x @ W, X) == first
    assert exporter.content(lambda x: x @ (W + 1), X) != first
    assert exporter.content(lambda x: jnp.tanh(x @ W), X) != first

"""The seven families in three frameworks: one network, whatever it is written in."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import neural_cost
from neural_cost.models import NAMES, path, weights, zoo
from tests.models.families import BATCH
from tests.models.forms import FOLDED, FORMS

FRAMEWORK_PACKAGES = {"torch": "torch", "keras": "tensorflow", "jax": "flax"}
families = pytest.mark.parametrize("name", zoo.FAMILIES)
others = pytest.mark.parametrize("framework", ["keras", "jax"])


@pytest.fixture(autouse=True)
def frameworks_warn():
    """Frameworks warn of each other while they are imported; what they compute is looked at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def family(name, framework):
    pytest.importorskip(FRAMEWORK_PACKAGES[framework])
    return zoo.family(name, framework)


def outputs(name, framework, batch=3):
    """Logits of the same random input, channels first for torch and last for the others."""
    model, _ = family(name, framework)
    data = np.random.default_rng(7).standard_normal((batch, *weights.example(name).shape[1:])).astype(np.float32)
    if framework == "torch":
        import torch

        with torch.no_grad():
            return model(torch.from_numpy(data)).numpy()
    return np.asarray(model(np.moveaxis(data, 1, -1) if name == "cnn" else data))


def test_every_family_is_drawn_alike_every_time():
    for name in zoo.FAMILIES:
        first, second = weights.draw(name), weights.draw(name)
        assert all(np.array_equal(first[key], second[key]) for key in first)
        assert len({array.tobytes() for array in first.values()}) == len(first)


@families
def test_drawn_weights_are_the_closed_form(name):
    drawn = sum(array.size for key, array in weights.draw(name).items() if "running" not in key)
    assert drawn == FORMS[name][0]


def test_the_files_hold_the_zoo():
    import onnxruntime

    session = onnxruntime.InferenceSession(path("dnn"))
    data = np.random.default_rng(7).standard_normal((3, 784)).astype(np.float32)
    np.testing.assert_allclose(session.run(None, {"input": data})[0], outputs("dnn", "torch"), atol=1e-5)


def test_the_committed_files_are_of_the_zoo():
    assert set(NAMES) < set(zoo.FAMILIES)


def test_outputs_agree():
    np.testing.assert_allclose(outputs("dnn", "jax"), outputs("dnn", "torch"), atol=1e-5, rtol=0)


@pytest.mark.long
@families
@others
def test_outputs_of_all_agree(name, framework):
    np.testing.assert_allclose(outputs(name, framework), outputs(name, "torch"), atol=1e-5, rtol=0)


@pytest.mark.long
@others
def test_weights_can_be_carried(framework):
    """Other weights than the family's own: those of a module, moved."""
    import torch

    module, _ = family("transformer", "torch")
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.01 * torch.randn_like(parameter))
    moved = {key: value.numpy() for key, value in module.state_dict().items()}
    model, example = family("transformer", framework)
    before = np.asarray(model(example))
    if framework == "keras":
        from neural_cost.models import keras_families

        keras_families.carry(model, "transformer", moved)
    else:
        from neural_cost.models import jax_families

        jax_families.carry(model, moved)
    with torch.no_grad():
        expected = module(torch.from_numpy(np.array(example))).numpy()
    assert np.abs(np.asarray(model(example)) - before).max() > 1e-3
    np.testing.assert_allclose(np.asarray(model(example)), expected, atol=1e-5, rtol=0)


def exported_totals(name, framework, folder):
    model, inputs = family(name, framework)
    exported = neural_cost.export(model, inputs, folder / "a.onnx")
    assert {axes[0] for axes in exported.dims.values()} == {"batch"}
    assert exported.parity.max_abs_diff <= 1e-5
    assert len(exported.parity.outputs) == 3
    return neural_cost.analyze(exported.path, dims={"batch": BATCH}).totals


def check_form(name, framework, folder, folds):
    totals = exported_totals(name, framework, folder)
    parameters, macs = FORMS[name]
    assert totals.macs == macs
    assert totals.parameters == (FOLDED.get(name, parameters) if folds else parameters)
    assert totals.complete


@pytest.mark.parametrize(("name", "framework"), [("dnn", "torch"), ("lstm", "keras")])
def test_exports_are_the_closed_form(name, framework, tmp_path):
    check_form(name, framework, tmp_path, folds=True)


@pytest.mark.long
@families
@pytest.mark.parametrize("framework", ["torch", "keras", "jax"])
def test_all_exports_are_the_closed_form(name, framework, tmp_path):
    check_form(name, framework, tmp_path, folds=framework == "torch")

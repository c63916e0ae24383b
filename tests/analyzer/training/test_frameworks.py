"""One network costs the same to train, whatever it is written in: as an operator, as a loop, or unrolled."""

from __future__ import annotations

import warnings

import pytest

import neural_cost
from neural_cost.models import zoo
from tests.layout import ROOT

BATCH = 4


@pytest.fixture(autouse=True)
def frameworks_warn():
    """Frameworks warn of each other while they are imported; what they compute is looked at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", ["rnn", "lstm"])
@pytest.mark.parametrize("framework", ["keras", "jax"])
def test_recurrent_networks_cost_the_same(name, framework, tmp_path):
    pytest.importorskip({"keras": "tensorflow", "jax": "jax2onnx"}[framework])
    exported = neural_cost.export(*zoo.family(name, framework), tmp_path / f"{name}.onnx", verify=False)
    # A Loop stands where the framework has no operator for the cell; its first state needs no gradient.
    found = neural_cost.analyze(exported.path, dims={"batch": BATCH}).training()
    torch = neural_cost.analyze(ROOT / "models" / f"{name}.onnx", dims={"batch": BATCH}).training()
    assert found.complete
    assert (found.weight_macs, found.input_macs) == (torch.weight_macs, torch.input_macs)

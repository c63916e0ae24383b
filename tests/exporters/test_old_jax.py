"""JAX below 0.7 goes through TensorFlow. It cannot live beside jax2onnx, so it is put in front of the path."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from neural_cost import BackendError
from neural_cost.exporters.jax_exporter import JaxExporter
from tests.layout import ROOT
from tests.models.forms import FORMS

OLD = ("jax==0.6.2", "jaxlib==0.6.2", "flax==0.11.2")  # that Flax is the last one for this JAX

# jax2tf writes BatchNorm as arithmetic: a running mean is subtracted as a bias is added, and nothing tells them apart.
# The variance is folded into the scale.
RUNNING_MEANS = {"cnn": 64 + 128}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    pytest.importorskip("tensorflow")
    packages, files = tmp_path_factory.mktemp("packages"), tmp_path_factory.mktemp("files")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(packages), *OLD]
    subprocess.run(install, check=True, capture_output=True, timeout=600)
    path = os.pathsep.join(filter(None, [str(packages), os.environ.get("PYTHONPATH"), str(ROOT / "src"), str(ROOT)]))
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "exporters" / "old_jax.py"), str(files)],
        capture_output=True, text=True, check=False, timeout=900, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
@pytest.mark.parametrize("family", ["dnn", "cnn", "rnn", "lstm", "transformer"])
def test_families_are_what_their_closed_forms_say(family, found):
    export = found[family]
    assert (export["exporter"], export["jax"], export["opset"]) == ("jax2tf and tf2onnx", "0.6.2", 18)
    parameters, macs = FORMS[family]
    assert (export["parameters"], export["macs"]) == (parameters + RUNNING_MEANS.get(family, 0), macs)
    assert export["open"]
    assert export["batches"] == 3  # compared with JAX at three batch sizes
    assert export["within"]


@pytest.mark.long
def test_a_function_with_a_weight_closed_over(found):
    assert (found["function"]["parameters"], found["function"]["macs"]) == (4 * 5, 16 * 4 * 5)


@pytest.mark.long
def test_an_opset_that_is_too_new_is_told_and_nothing_written(found):
    message, written = found["too new"]
    assert "opset 18 at most" in message
    assert not written


def test_a_jax_between_the_two_routes_is_told(monkeypatch):
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(jax, "__version_info__", (0, 7, 2))
    monkeypatch.setattr(jax, "__version__", "0.7.2")
    with pytest.raises(BackendError, match=r"JAX 0\.7\.2 cannot be exported: jax2onnx takes 0\.8\.1 or later"):
        JaxExporter().export(lambda x: x, None, None, None)

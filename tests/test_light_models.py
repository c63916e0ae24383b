"""The nine light models inside the onnx package: MACs, shapes and parameters against a run and published figures."""

from functools import cache
from itertools import pairwise
from pathlib import Path

import onnx
import pytest

import neural_cost
from tests.truth import Truth, truth_of

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"

# MACs in millions, as text: it must come out at as many digits as are published
PUBLISHED_MMACS = {
    "bvlc_alexnet": "654.56",
    "densenet121": "2834.16",
    "inception_v1": "1431.56",
    "inception_v2": "2018.85",
    "resnet50": "4089.18",
    "shufflenet": "124.66",
    "squeezenet": "349.15",
    "vgg19": "19632",
    "zfnet512": "1481.73",
}
each_model = pytest.mark.parametrize("name", PUBLISHED_MMACS)


def weights(out: int, per_output: int) -> int:
    """Parameters of a layer: a filter of `per_output` weights and a bias for each output channel."""
    return out * per_output + out


# Layer by layer: convolutions (out, in/group x taps), then fully connected layers (out, in)
ALEXNET_PARAMETERS = (
    weights(96, 3 * 11 * 11)
    + weights(256, 96 // 2 * 5 * 5)
    + weights(384, 256 * 3 * 3)
    + weights(384, 384 // 2 * 3 * 3)
    + weights(256, 384 // 2 * 3 * 3)
    + weights(4096, 256 * 6 * 6)
    + weights(4096, 4096)
    + weights(1000, 4096)
)
VGG19_CHANNELS = [3, 64, 64, 128, 128, *[256] * 4, *[512] * 8]
VGG19_PARAMETERS = (
    sum(weights(out, into * 3 * 3) for into, out in pairwise(VGG19_CHANNELS))
    + weights(4096, 512 * 7 * 7)
    + weights(4096, 4096)
    + weights(1000, 4096)
)


@cache
def report_of(name: str) -> neural_cost.Report:
    return neural_cost.analyze(FOLDER / f"light_{name}.onnx")


@cache
def truth(name: str) -> Truth:
    return truth_of(FOLDER / f"light_{name}.onnx")


@each_model
def test_macs_to_the_last_digit(name):
    assert report_of(name).totals.complete
    assert report_of(name).totals.macs == truth(name).total_macs


@each_model
def test_macs_are_the_published_ones(name):
    published = PUBLISHED_MMACS[name]
    digits = len(published.partition(".")[2])
    assert f"{report_of(name).totals.macs / 1e6:.{digits}f}" == published


@each_model
def test_macs_of_each_node(name):
    true = {index: macs for index, macs in truth(name).macs.items() if macs}
    assert {node.index: node.macs for node in report_of(name).nodes if node.macs} == true


@each_model
def test_every_shape_is_known_and_true(name):
    tensors = truth(name).tensors
    outputs = [tensor for node in report_of(name).nodes for tensor in node.outputs if tensor.name in tensors]
    assert {t.name: (t.dtype, tuple(t.shape)) for t in outputs} == {
        t.name: (tensors[t.name].dtype, tensors[t.name].shape) for t in outputs
    }
    assert len(outputs) >= len(report_of(name).nodes)


@pytest.mark.parametrize(("name", "parameters"), [("bvlc_alexnet", ALEXNET_PARAMETERS), ("vgg19", VGG19_PARAMETERS)])
def test_weights_made_by_constant_of_shape_are_parameters(name, parameters):
    assert report_of(name).totals.parameters == parameters
    assert report_of(name).totals.parameter_bytes == 4 * parameters  # float32


def test_alexnet_has_the_published_number_of_parameters():
    assert round(ALEXNET_PARAMETERS / 1e6, 2) == 60.97

"""The committed files are what the table of the canonical families says, and compute what PyTorch computes."""

from __future__ import annotations

import ast
from math import prod

import onnx
import pytest

import neural_cost
from neural_cost.models import NAMES, make, path, torch_families
from tests.models.families import BATCH, CNN_FOLDED, EXPECTED

TABLE = {"dnn": 118_794, "cnn": 77_322, "rnn": 66_826, "lstm": 263_434, "transformer": 397_834}
MAX_BYTES = 2_000_000
families = pytest.mark.parametrize("name", NAMES)


def module_of(name):
    return getattr(torch_families, name)()[0]


def scopes_of(node):
    """Module scopes by torch's metadata, or by the path in the older exporter's node names."""
    metadata = {entry.key: entry.value for entry in node.metadata_props}
    if "pkg.torch.onnx.name_scopes" in metadata:
        return ast.literal_eval(metadata["pkg.torch.onnx.name_scopes"])
    return node.name.strip("/").split("/")[:-1]


def test_every_family_is_expected_and_committed():
    assert set(NAMES) == set(EXPECTED) == set(TABLE)
    assert {file.stem for file in path("dnn").parent.glob("*.onnx")} == set(NAMES)


def test_unknown_family_is_refused_with_the_names():
    with pytest.raises(KeyError, match=r"vgg.*transformer"):
        path("vgg")


@families
def test_parameters_of_the_module(name):
    count = sum(parameter.numel() for parameter in module_of(name).parameters())
    assert count == EXPECTED[name].parameters == TABLE[name]


@families
def test_parameters_in_the_file(name):
    weights = [item for item in onnx.load(path(name)).graph.initializer if item.data_type == onnx.TensorProto.FLOAT]
    assert sum(prod(item.dims) for item in weights) == EXPECTED[name].in_file


def test_exporter_folds_batch_normalization():
    assert EXPECTED["cnn"].in_file == CNN_FOLDED == 76_938
    assert "BatchNormalization" not in {node.op_type for node in onnx.load(path("cnn")).graph.node}


@families
def test_file_is_small_and_whole(name):
    assert path(name).stat().st_size < MAX_BYTES
    model = onnx.load(path(name), load_external_data=False)
    assert not any(onnx.external_data_helper.uses_external_data(item) for item in model.graph.initializer)
    onnx.checker.check_model(model, full_check=True)


@families
def test_file_names_no_machine(name):
    content = path(name).read_bytes()
    assert not [word for word in (b"site-packages", b"/home", b"/tmp", b"stack_trace") if word in content]


@families
def test_batch_is_symbolic(name):
    graph = onnx.load(path(name)).graph
    for value in (*graph.input, *graph.output):
        batch, *rest = value.type.tensor_type.shape.dim
        assert batch.dim_param == "batch"
        assert all(dim.dim_value > 0 for dim in rest)


@families
def test_scopes_stay_on_nodes(name):
    found = {scope for node in onnx.load(path(name)).graph.node for scope in scopes_of(node)}
    assert found >= EXPECTED[name].modules


@families
@pytest.mark.parametrize("batch", [1, BATCH])
def test_file_computes_what_torch_computes(name, batch):
    assert make.difference(module_of(name), path(name), batch) <= 1e-5


@families
def test_analysis_gives_the_closed_form(name):
    totals = neural_cost.analyze(path(name), dims={"batch": BATCH}).totals
    expected = EXPECTED[name]
    assert totals.macs == expected.macs
    assert round(2 * totals.macs / 1e6, 1) == expected.mflops
    assert totals.parameters == (CNN_FOLDED if name == "cnn" else expected.parameters)
    assert totals.complete

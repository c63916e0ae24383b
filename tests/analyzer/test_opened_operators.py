"""Every operator with its sizes left open: what a report says at other sizes is what an analysis of them says."""

from collections.abc import Callable

import onnx
import pytest

import neural_cost
from tests.node_tests import cases

AT: list[Callable[[int], int]] = [lambda size: size, lambda size: 2 * size, lambda size: 3 * size + 2]


def opened(model):
    """The model with a name for each size of its inputs, the same for equal ones; and the sizes."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    constants = {tensor.name for tensor in copy.graph.initializer}
    sizes = {}
    for value in copy.graph.input:
        if value.name in constants or not value.type.HasField("tensor_type"):
            continue
        for dim in value.type.tensor_type.shape.dim:
            if (size := dim.dim_value) > 1:
                dim.Clear()
                dim.dim_param = f"s{size}"
                sizes[f"s{size}"] = size
    return copy, sizes


def by_operators():
    """One of ONNX's node tests for each list of operators."""
    return {tuple(node.op_type for node in case.model.graph.node): case for case in reversed(cases())}.values()


def analyzed(file, sizes):
    try:
        return neural_cost.analyze(file, dims=sizes).totals
    except neural_cost.NeuralCostError:
        return None


def evaluated(report, sizes):
    try:
        return report.at(sizes)
    except neural_cost.NeuralCostError:
        return None


@pytest.mark.long
def test_every_operator_at_other_sizes(tmp_path):
    compared = 0
    for case in by_operators():
        model, sizes = opened(case.model)
        if not sizes:
            continue
        file = tmp_path / "model.onnx"
        onnx.save(model, file)
        report = neural_cost.analyze(file)
        for scale in AT:
            there = {name: scale(size) for name, size in sizes.items()}
            expected = analyzed(file, there)
            assert evaluated(report, there) == expected, (case.name, there)
            compared += expected is not None and bool(report.formulas.totals)
    assert compared > 400

"""What ONNX Runtime writes in another way, at each level: all time is of the nodes of one kernel, each MAC in one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import neural_cost
from neural_cost.runtime.mapping.claimed import by_event
from neural_cost.runtime.profile_events import Executed
from neural_cost.runtime.session import LEVELS
from tests.runtime.mapping.executed_models import mapped
from tests.runtime.mapping.rewritten_models import MACS, MODELS

QUICK = {"budget_s": 0.0, "threads": 1}
TRUE = {"c": np.array(True)}


def ran(name, folder, level="all"):
    inputs = TRUE if name == "scan in if" else None
    return neural_cost.profile(MODELS[name].save(folder), inputs=inputs, level=level, **QUICK)


def kernels(found, op_type=None):
    """Operators of the nodes of each kernel, by its own operator."""
    nodes = found.report.nodes
    told = [(each.op_type, [nodes[place].op_type for place in each.source_nodes]) for each in found.kernels]
    return told if op_type is None else [operators for kind, operators in told if kind == op_type]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", MODELS)
def test_each_second_and_each_mac_is_of_one_kernel(name, level, tmp_path):
    found = ran(name, tmp_path, level)
    assert sum(kernel.macs for kernel in found.kernels) == found.report.totals.macs == MACS[name]
    owners = Counter(place for kernel in found.kernels if not kernel.joined for place in kernel.source_nodes)
    assert set(owners.values()) == {1}
    assert found.mapping.attributed_share == pytest.approx(1.0)
    assert found.mapping.unmapped_share == 0.0
    for kernel in found.kernels:
        assert not (kernel.source_nodes and kernel.serves)
        assert kernel.inserted == bool(kernel.serves)
    groups = {kernel.source_nodes for kernel in found.kernels if not kernel.joined}
    assert all(kernel.serves in groups for kernel in found.kernels if kernel.inserted)
    assert all(kernel.source_nodes in groups for kernel in found.kernels if kernel.joined)


def test_a_transpose_that_was_pushed_is_the_kernel_that_does_it(tmp_path):
    """x is rectified before it is transposed; the file says it the other way round."""
    assert kernels(ran("pushed transpose", tmp_path)) == [
        ("Sigmoid", ["Sigmoid"]), ("Transpose", ["Transpose"]), ("Add", ["Add"]), ("Transpose", ["Transpose"]),
        ("Cos", ["Cos"]), ("Sin", ["Sin"]),
    ]  # fmt: skip


def test_channels_last_become_channels_first(tmp_path):
    """Transposes between kernels cancel; the last is what the reorder does."""
    found = ran("channels last", tmp_path)
    assert kernels(found) == [
        ("Transpose", ["Transpose"]),
        ("Conv", ["Conv", "Transpose", "Add", "Relu"]),
        ("Conv", ["Transpose", "Conv", "Transpose", "Add", "Sigmoid"]),
        ("MaxPool", ["Transpose", "MaxPool"]),
        ("ReorderOutput", ["Transpose"]),
    ]


def test_a_pooling_is_no_conversion(tmp_path):
    """ONNX Runtime quantizes before it, and not after: the sum is that of the file, and so is the pooling."""
    found = ran("quantized convolutions", tmp_path, "extended")
    assert kernels(found, "QLinearAdd") == [["DequantizeLinear", "Add"]]
    assert kernels(found, "MaxPool") == [["MaxPool", "QuantizeLinear"]]
    assert not any(kernel.inserted for kernel in found.kernels)


def test_a_product_with_a_sigmoid_between_blocked_kernels(tmp_path):
    found = ran("gated", tmp_path)
    assert kernels(found, "QuickGelu") == [["Sigmoid", "Mul"]]
    assert kernels(found, "AveragePool") == [["AveragePool"]]


def test_an_operator_that_is_written_out_is_one(tmp_path):
    """There is no Softmax of float16: its last kernel has the node, and the four before help it."""
    found = ran("float16", tmp_path)
    (softmax,) = [place for place, node in enumerate(found.report.nodes) if node.op_type == "Softmax"]
    parts = [kernel for kernel in found.kernels if kernel.source_nodes == (softmax,)]
    assert [(each.op_type, each.joined, each.helped) for each in parts] == [
        ("ReduceMax", True, False), ("Sub", True, False), ("Exp", True, False), ("ReduceSum", True, False),
        ("Div", False, True),
    ]  # fmt: skip
    assert [each.efficiency for each in parts] == [None] * 5
    assert found.gap is None or found.gap.nodes[softmax].seconds > 0


def test_a_cast_of_an_input_serves_who_reads_it_and_one_of_a_result_who_makes_it(tmp_path):
    found = ran("float16", tmp_path, "disable")
    casts = {kernel.name: kernel for kernel in found.kernels if kernel.op_type == "Cast"}
    served = {name: [found.report.nodes[place].op_type for place in cast.serves] for name, cast in casts.items()}
    assert served["InsertedPrecisionFreeCast_x"] == ["Conv"]
    assert served["InsertedPrecisionFreeCast_v"] == ["Add"]  # a weight that is cast at each run
    assert served["InsertedPrecisionFreeCast_y"] == ["Softmax"]


def test_a_branch_in_place_of_its_condition(tmp_path):
    """Both conditions are known when the model is loaded, and the one within the first branch is."""
    assert kernels(ran("constant condition", tmp_path)) == [
        ("MatMul", ["MatMul"]), ("MatMul", ["MatMul"]), ("Sigmoid", ["Sigmoid"]),
        ("MatMul", ["MatMul"]), ("Tanh", ["Tanh"]), ("MatMul", ["MatMul"]),
    ]  # fmt: skip
    found = ran("constant condition", tmp_path)
    graphs = [{found.report.nodes[place].graph for place in kernel.source_nodes} for kernel in found.kernels]
    assert graphs == [{"main/0/then_branch"}, {"main/0/then_branch/1/else_branch"},
                      {"main/0/then_branch/1/else_branch"}, {"main/1/then_branch"}, {"main/1/then_branch"},
                      {"main"}]  # fmt: skip


def test_a_doubled_node_serves_the_node_that_it_doubles(tmp_path):
    """xd has two readers: its second DequantizeLinear does once more what the file asks for once."""
    found = ran("quantized convolutions", tmp_path, "disable")
    doubled = [kernel for kernel in found.kernels if kernel.inserted]
    assert {kernel.op_type for kernel in doubled} == {"DequantizeLinear"}
    assert [[found.report.nodes[place].op_type for place in kernel.serves] for kernel in doubled] == [
        ["DequantizeLinear"]
    ] * len(doubled)
    for kernel in doubled:
        others = [each for each in found.kernels if each.source_nodes == kernel.serves]
        assert [each.op_type for each in others] == ["DequantizeLinear"]


def test_kernels_without_a_name_are_told_apart_by_their_order(tmp_path):
    """Only where as many ran as there are."""
    found = mapped(MODELS["float16"].save(tmp_path), tmp_path).claims
    claims = [claim for claim in found if not claim.node.name and claim.node.op_type != "Flatten"]
    assert [claim.node.op_type for claim in claims] == ["ReduceMax", "Sub", "Exp", "ReduceSum", "Div"]
    events = [Executed(name, name.split("_")[0], "CPUExecutionProvider", 1e-6, 1) for name in ("Sub_7", "Exp_1")]
    assert by_event(claims, events) == {"Sub_7": claims[1], "Exp_1": claims[2]}
    twice = [*events, Executed("Sub_9", "Sub", "CPUExecutionProvider", 1e-6, 1)]
    assert by_event(claims, twice) == {"Exp_1": claims[2]}

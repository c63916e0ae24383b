"""Profile: a report joined to a run, its kernels and their bounds; and what is said when it cannot be."""

import json

import numpy as np
import onnx
import onnx.parser
import pytest
from jsonschema import Draft202012Validator

import neural_cost
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.tables.profile_rows import kernel_rows
from neural_cost.models import path
from neural_cost.runtime.feeds import index_ranges, make_feeds
from neural_cost.runtime.named_copy import with_names
from neural_cost.runtime.profile import WARMUP
from neural_cost.runtime.profiled_run import run_often
from neural_cost.runtime.trace import chrome_trace
from tests.test_schema import SCHEMA

QUICK = {"budget_s": 0.05, "threads": 1}
SLOW = Device(name="slow", kind="measured", vendor="", type="cpu", peaks={"float32": 1e15, "int64": 1e15},
              bandwidth_curve=((0, 1e15),))  # fmt: skip


def written(text, folder, name="model.onnx"):
    file = folder / name
    onnx.save(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]>\n{text}'), file)
    return file


@pytest.fixture(scope="module")
def cnn():
    return neural_cost.profile(path("cnn"), device=SLOW, **QUICK)


def test_a_run_is_measured(cnn):
    found = cnn.measurement
    assert 0 < found.min_s <= found.median_s < 10
    assert found.ci_s[0] <= found.median_s <= found.ci_s[1]
    assert (found.backend, found.provider, found.threads, found.level) == (
        "onnxruntime", "CPUExecutionProvider", 1, "all",
    )  # fmt: skip
    assert 0 < found.kernels_s <= found.profiled_s
    low, high = cnn.report.memory.peak_lower_bytes, cnn.report.memory.peak_upper_bytes
    assert low <= found.peak_bytes <= high


def test_kernels_have_the_nodes_of_the_file(cnn):
    """Two convolutions with their activations, a pooling, a reordering, a mean, a view and a product."""
    operators = [[cnn.report.nodes[place].op_type for place in kernel.source_nodes] for kernel in cnn.kernels]
    assert operators[:3] == [["Conv", "Relu"], ["MaxPool"], ["Conv", "Relu"]]
    assert [kernel.op_type for kernel in cnn.kernels if kernel.inserted] == ["ReorderOutput"]
    assert sum(kernel.macs for kernel in cnn.kernels) == cnn.report.totals.macs
    assert (cnn.mapping.mac_share, cnn.mapping.unmapped_share) == (1.0, 0.0)
    assert cnn.mapping.time_share + cnn.mapping.inserted_share == pytest.approx(1)
    assert cnn.mapping.attributed_share == pytest.approx(1)
    (reorder,) = [kernel for kernel in cnn.kernels if kernel.inserted]
    assert [cnn.report.nodes[place].op_type for place in reorder.serves] == ["Conv", "Relu"]  # which make what it moves
    (row,) = [row for row in kernel_rows(cnn.report, cnn.kernels) if row["inserted"]]
    assert (row["nodes"], row["serves"]) == ("", "node_Conv_23 + node_relu_1")


def test_work_of_a_fused_kernel_by_hand(cnn):
    """3x32x32 by 64 filters of 3x3 with bias, rectified: what is between the two nodes is not moved.

    FLOPs: 2 x 64 x 32 x 32 x 27 of the products, one of the bias and one of the activation for each of 65,536 results.
    """
    work = cnn.kernels[0].work
    results = 64 * 32 * 32
    assert work.flops == 2 * results * 27 + results + results
    assert work.bytes_moved == 4 * (3 * 32 * 32 + 64 * 27 + 64 + results)


def test_traffic_lies_between_perfect_fusion_and_none(cnn):
    totals = cnn.report.totals
    assert totals.compulsory_bytes <= cnn.fused_bytes <= totals.per_op_bytes
    assert cnn.to_dict()["totals"]["traffic_bytes"]["fused"] == cnn.fused_bytes


def test_bounds_rise(cnn):
    assert cnn.bound.floor_s <= cnn.bound.fused_s <= cnn.bound.per_op_s
    assert all(kernel.efficiency <= 1 for kernel in cnn.kernels if kernel.efficiency is not None)


def test_a_loop_runs_as_often_as_its_body(tmp_path):
    text = """g (float[4, 4] x) => (float[4, 4] y) {
        n = Constant <value = int64 {7}> ()  go = Constant <value = bool {1}> ()
        y = Loop (n, go, x) <body = b (int64 i, bool c, float[4, 4] s) => (bool more, float[4, 4] t) {
            more = Identity(c)  t = MatMul(s, s) }> }"""
    found = neural_cost.profile(written(text, tmp_path), **QUICK)
    (inside,) = [kernel for kernel in found.kernels if kernel.op_type == "MatMul"]
    assert inside.executions == 7
    assert inside.macs == found.report.totals.macs == 7 * 64
    assert inside.graph != "main"


def test_nodes_without_names_are_told_apart(tmp_path):
    text = "g (float[2, 3] x) => (float[2, 3] y) { a = Sin(x) b = Sin(a) y = Sin(b) }"
    file = written(text, tmp_path)
    before = file.read_bytes()
    found = neural_cost.profile(file, **QUICK)
    assert [kernel.source_nodes for kernel in found.kernels] == [(0,), (1,), (2,)]
    assert file.read_bytes() == before
    named = onnx.load_from_string(with_names(file))
    assert len({node.name for node in named.graph.node}) == 3
    assert with_names(path("cnn")) is None


def test_json_is_valid(cnn):
    data = json.loads(json.dumps(cnn.to_dict()))
    Draft202012Validator(SCHEMA).validate(data)
    assert data["measurement"]["samples"] == cnn.measurement.samples
    assert len(data["kernels"]) == len(cnn.kernels)


def test_it_can_be_read(cnn):
    assert "Kernels by time" in str(cnn)
    assert "<table" in cnn._repr_html_()
    assert len(cnn.to_dataframe()) == len(cnn.kernels)


@pytest.mark.parametrize(("at", "ran"), [(WARMUP + 1, WARMUP + 1), (WARMUP + 4, WARMUP + 4)])
def test_ctrl_c_while_profiling_keeps_the_runs_that_count(at, ran):
    """The first that counts is the one after the warm-up."""
    calls = []

    def run():
        if len(calls) == at:
            raise KeyboardInterrupt
        calls.append(1)

    assert not run_often(run, WARMUP + 9, WARMUP)
    assert len(calls) == ran


def test_ctrl_c_while_profiling_before_a_run_counts():
    def run():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_often(run, WARMUP + 9, WARMUP)


def test_a_trace_has_our_names_and_costs(cnn):
    trace = chrome_trace(cnn)
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(events) == len(cnn.kernels)
    assert events[0]["name"] == "node_Conv_22 + node_relu"
    assert events[0]["args"]["flops"] == cnn.kernels[0].work.flops
    (reorder,) = [event for event in events if event["cat"] == "inserted"]
    assert reorder["args"]["serves"] == ["node_Conv_23", "node_relu_1"]
    assert min(event["ts"] for event in events) == 0
    json.dumps(trace)


def test_given_inputs_say_the_sizes(tmp_path):
    array = np.ones((5, 3, 32, 32), np.float64)
    found = neural_cost.profile(path("cnn"), inputs={"input": array}, **QUICK)
    assert found.report.model.dims["batch"] == 5


TABLE = """g (int64[n] words) => (float[n, 2] y) <float[50, 2] table = {%s}> { y = Gather(table, words) }"""


def test_indices_are_rows_that_the_table_has(tmp_path):
    report = neural_cost.analyze(written(TABLE % ", ".join("1" * 100), tmp_path), dims={"n": 1000})
    assert index_ranges(report) == {"words": 50}
    words = make_feeds(report)["words"]
    assert words.shape == (1000,)
    assert set(words) == set(range(50))


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({"nothing": np.ones(3)}, 'no input "nothing"; it has: input'),
        ({"input": np.ones((2, 3, 32, 32), np.int32)}, 'input "input" is int32 where float32 is wanted'),
    ],
)
def test_inputs_that_do_not_fit(arrays, why):
    with pytest.raises(neural_cost.NeuralCostError, match=why):
        neural_cost.profile(path("cnn"), inputs=arrays, **QUICK)


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ({"provider": "cuda"}, "provider cuda is not in this ONNX Runtime: install onnxruntime-gpu"),
        ({"provider": "cudaa"}, r'no provider "cudaa" \(did you mean "cuda"\?\); here are: '),
        ({"level": "most"}, 'no level "most": choose one of disable, basic, extended, all'),
    ],
)
def test_what_is_not_there(option, why):
    with pytest.raises(neural_cost.BackendError, match=why):
        neural_cost.profile(path("dnn"), **QUICK, **option)


def test_a_model_that_does_not_run(tmp_path):
    """Its shapes fit, and the row that it asks for is not there."""
    file = written(TABLE % ", ".join("1" * 100), tmp_path)
    with pytest.raises(neural_cost.BackendError, match=r"model.onnx cannot be run by ONNX Runtime: .*idx=99"):
        neural_cost.profile(file, inputs={"words": np.array([99])}, **QUICK)


def test_a_model_that_does_not_load(tmp_path):
    file = written("g (float[2] x) => (float[2] y) { y = Sin(x) }", tmp_path)
    model = onnx.load(file)
    model.graph.node[0].domain = "acme"
    model.opset_import.append(onnx.helper.make_opsetid("acme", 1))
    onnx.save(model, file)
    with pytest.raises(neural_cost.BackendError, match=r"model.onnx cannot be loaded by ONNX Runtime"):
        neural_cost.profile(file, **QUICK)


def test_a_violated_bound_is_shown(cnn):
    fast = Device(name="too slow", kind="measured", vendor="", type="cpu", peaks={"float32": 1e3})
    found = neural_cost.profile(path("dnn"), device=fast, **QUICK)
    assert "bound violated" in str(found)
    assert max(kernel.efficiency or 0 for kernel in found.kernels) > 1


def test_what_makes_a_bound_doubtful_is_told():
    """As in an analysis: whose rate stands in for a type's, and what can beat the device's figures."""
    device = Device(
        name="d", kind="datasheet", vendor="", type="cpu", peaks={"float64": 1e15}, caveat="a turbo beats it"
    )
    found = neural_cost.profile(path("dnn"), device=device, **QUICK)
    shown = " ".join(str(found).split())
    assert found.bound.substituted
    assert all(" ".join(told.split()) in shown for told in (*found.bound.substituted, "a turbo beats it"))

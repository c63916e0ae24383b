"""The rules of memory against runs in ONNX Runtime: the figures, and the order. All models: benchmarks/memory.md."""

import json

import onnxruntime
import pytest

from benchmarks.memory import LEVELS, Row, Subject, as_markdown, requested_peak, row
from neural_cost.analyzer.memory.orders import runtime_order
from neural_cost.models import NAMES, path
from neural_cost.runtime.inputs import random_input
from tests.memory_models import activations_of, written


@pytest.mark.parametrize("family", NAMES)
def test_a_first_run_lies_between_the_figures(family):
    found = row(Subject(family, path(family), {"batch": 4}))
    assert found.lower <= found.plain <= found.upper
    assert all(found.within(level) for level in LEVELS)


BRANCHES = """g (float[64] x) => (float[64] y, float[64] z) {
    a = Exp(x)
    b = Neg(a)
    c = Sqrt(a)
    d = Mul(b, c)
    e = Sin(a)
    f = Add(e, x)
    y = Sub(d, f)
    z = Abs(c)
}"""


def test_nodes_run_in_the_order_that_is_taken(tmp_path):
    file = written(BRANCHES, tmp_path)
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    session.run(None, {"x": random_input("x", 1, [64])})
    with open(session.end_profiling()) as profile:
        ran = [event["args"]["op_name"] for event in json.load(profile) if event["name"].endswith("_kernel_time")]
    taken = [step.op_type for step in runtime_order(activations_of(file).scope)]
    assert ran == taken
    assert ran != ["Exp", "Neg", "Sqrt", "Mul", "Sin", "Add", "Sub", "Abs"]


def test_the_peak_of_a_profile_leaves_out_what_was_there_before():
    events = [{"name": "session"}]
    for in_use, delta in ((150, 50), (170, 20), (160, -10)):
        events.append({"args": {"mem_bytes_requested_in_use": str(in_use), "mem_requested_in_use_delta": str(delta)}})
    assert requested_peak(events) == 170 - 100


def test_a_table_tells_what_is_outside_and_how_many_are_close():
    rows = [Row("a", {"n": 1}, 100, 110, 125, 127, {"default": 100, "basic": 125}), Row("b", {}, 100, 100, 126, 126, {
        "default": 127, "basic": 126})]  # fmt: skip
    text = as_markdown(rows)
    assert "| b |  | 100 | 127 | 126 | 126 | 100 | 126 | 1.26 | **outside** |" in text
    close = "the two within 25% of each other on 1 models"
    assert (
        f"- default: 1 of 2 rows between lower and upper, 1 models; {close}; planned within 1% of measured on 1" in text
    )
    assert (
        f"- basic: 2 of 2 rows between lower and upper, 2 models; {close}; planned within 1% of measured on 1" in text
    )

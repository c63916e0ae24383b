"""Reading a profile: times of kernels over runs, without what ran inside them, and the memory that was asked for."""

import json

import pytest

from neural_cost.runtime.profile_events import Executed, read_profile, requested_peak


def node(name, ts, dur, requested=0, delta=0):
    args = {"op_name": name.upper(), "provider": "P", "mem_bytes_requested_in_use": str(requested),
            "mem_requested_in_use_delta": str(delta)}  # fmt: skip
    return {"cat": "Node", "name": f"{name}_kernel_time", "ts": ts, "dur": dur, "tid": 1, "args": args}


def run(ts, dur):
    return {"cat": "Session", "name": "model_run", "ts": ts, "dur": dur, "tid": 1, "args": {}}


def written(events, folder):
    file = folder / "profile.json"
    file.write_text(json.dumps(events))
    return file


def test_medians_over_runs_without_the_first(tmp_path):
    events = [
        run(0, 100), node("a", 1, 90, requested=500, delta=100), node("b", 92, 5, requested=700, delta=200),
        run(200, 30), node("a", 201, 10), node("b", 215, 4),
        run(300, 34), node("a", 301, 14), node("b", 320, 6),
    ]  # fmt: skip
    found = read_profile(written(events, tmp_path), 1)
    assert [each.name for each in found.kernels] == ["a", "b"]
    assert [each.seconds for each in found.kernels] == pytest.approx([12e-6, 5e-6])
    assert found.kernels[0].op_type == "A"
    assert found.run_s == pytest.approx(32e-6)
    assert found.kernels_s == pytest.approx(17e-6)  # of 14 and of 20 us
    assert found.peak_bytes == 300  # 700, less the 400 of the weights that were there before the first
    assert [event["ts"] for event in found.events] == [301, 320]


def test_a_loop_is_told_without_its_body(tmp_path):
    """The loop takes 100 us, its body's kernel 3 times 20: 40 are its own."""
    body = [node("inside", 10 + 30 * trip, 20) for trip in range(3)]
    found = read_profile(written([run(0, 120), node("loop", 5, 100), *body], tmp_path), 0)
    loop, inside = found.kernels
    assert loop == Executed("loop", "LOOP", "P", pytest.approx(40e-6), 1)
    assert inside == Executed("inside", "INSIDE", "P", pytest.approx(60e-6), 3)
    assert found.kernels_s == pytest.approx(100e-6)


def test_memory_that_is_not_told_is_none():
    assert requested_peak([{"args": {}}]) is None
    assert requested_peak([]) is None

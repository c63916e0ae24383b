"""Bounds, by hand and by property."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.device_table import find_device
from neural_cost.analyzer.roofline import Work, bounds, kernel_bound, ridge_point

A100 = find_device("NVIDIA A100-SXM4-80GB")


def device(peaks: dict[str, float], curve: tuple[tuple[int, float], ...] = ((0, 10.0),)) -> Device:
    return Device(name="d", kind="measured", vendor="v", type="cpu", peaks=peaks, bandwidth_curve=curve)


SIMPLE = device({"float32": 100.0, "float16": 200.0})  # 100 FLOP/s, 10 bytes/s


def test_one_kernel_takes_the_longer_part():
    compute = kernel_bound(Work({"float32": 1000}, 50), SIMPLE)
    assert (compute.compute_s, compute.memory_s, compute.seconds, compute.limited_by) == (10, 5, 10, "compute")
    memory = kernel_bound(Work({"float32": 100}, 50), SIMPLE)
    assert (memory.compute_s, memory.memory_s, memory.seconds, memory.limited_by) == (1, 5, 5, "memory")


def test_types_in_a_kernel_take_turns():
    mixed = kernel_bound(Work({"float32": 1000, "float16": 1000}, 0), SIMPLE)
    assert mixed.compute_s == 1000 / 100 + 1000 / 200


def test_repeats_scale_time_and_not_the_working_set():
    cached = device({"float32": 100.0}, ((0, 10.0), (100, 1.0)))
    assert kernel_bound(Work({}, 50, repeats=4), cached).seconds == 4 * 50 / 10
    assert kernel_bound(Work({}, 200), cached).seconds == 200 / 1
    assert kernel_bound(Work({"float32": 1000}, 0, repeats=4), cached).seconds == 4 * 1000 / 100
    assert bounds([Work({"float32": 1000}, 0, repeats=4)], 0, cached).floor_s == 4 * 1000 / 100


def test_a100_matmul_by_hand():
    # float16 4096^3: 2 x 4096^3 FLOPs at 312 TFLOP/s; 3 matrices of 2 x 4096^2 bytes at 2039 GB/s
    work = Work({"float16": 2 * 4096**3}, 3 * 2 * 4096**2)
    bound = kernel_bound(work, A100)
    assert bound.compute_s == pytest.approx(2 * 4096**3 / 312e12)
    assert bound.memory_s == pytest.approx(3 * 2 * 4096**2 / 2039e9)
    assert bound.limited_by == "compute"
    assert work.intensity == pytest.approx(4096 / 3)
    assert ridge_point(A100, "float16") == pytest.approx(312e12 / 2039e9)  # 153 FLOPs a byte


def test_unknown_parts_are_left_out_and_named():
    no_bandwidth = device({"float32": 100.0}, ())
    bound = kernel_bound(Work({"float32": 100}, 50), no_bandwidth)
    assert (bound.compute_s, bound.memory_s, bound.seconds) == (1, None, 1)
    assert (bound.limited_by, bound.missing) == ("unknown", ("bandwidth",))

    no_peak = device({})
    bound = kernel_bound(Work({"float32": 100}, 50), no_peak)
    assert (bound.compute_s, bound.memory_s, bound.seconds) == (None, 5, 5)
    assert (bound.limited_by, bound.missing) == ("unknown", ("peak of float32",))

    bound = kernel_bound(Work({"float32": 100, "string": 7}, 50), SIMPLE)
    assert (bound.seconds, bound.limited_by) == (5, "unknown")  # the string part could be longer than the traffic
    bound = kernel_bound(Work({"float32": 1000, "string": 7}, 50), SIMPLE)
    assert (bound.seconds, bound.limited_by) == (10, "compute")  # and can't make this one limited by traffic

    assert kernel_bound(Work({"float32": 100}, 50), device({}, ())).seconds is None


def test_a_type_at_the_rate_of_another_is_named():
    # 100 FLOPs of float64 on a device that lists float32 alone, at 100 FLOP/s, and none of float16
    bound = bounds([Work({"float32": 50, "float64": 100, "float16": 0}, 0)], 0, device({"float32": 100.0}))
    assert bound.floor_s == 50 / 100 + 100 / 100
    assert bound.substituted == ("float64 at the rate of float32, having no figure",)
    assert bound.to_dict()["substituted"] == list(bound.substituted)
    assert bound.substituted[0] in str(bound)
    tpu = find_device("TPU v4")
    assert bounds([Work({"float32": 275 * 10**12}, 0)], 0, tpu).substituted == (
        "float32 at the rate of bfloat16, having no figure",
    )


def test_no_work_takes_no_time():
    bound = kernel_bound(Work({}, 0), device({}, ()))
    assert (bound.seconds, bound.limited_by, bound.missing) == (0, "unknown", ())


def test_three_bounds_by_hand():
    # two nodes: 1000 FLOPs and 20 bytes, then 100 FLOPs and 60 bytes; 30 bytes pass between them, once out, once in
    nodes = [Work({"float32": 1000}, 20 + 30), Work({"float32": 100}, 30 + 60)]
    bound = bounds(nodes, 20 + 60, SIMPLE, fusion_groups=[Work({"float32": 1100}, 20 + 60)])
    assert bound.floor_s == max(1100 / 100, 80 / 10)
    assert bound.fused_s == 11
    assert bound.per_op_s == max(1000 / 100, 50 / 10) + max(100 / 100, 90 / 10)  # 10 + 9
    assert (bound.compute_s, bound.memory_s, bound.limited_by) == (11, 8, "compute")
    assert bound.intensity == 1100 / 80
    assert bound.ridge == 100 / 10
    assert bounds(nodes, 80, SIMPLE).fused_s is None


def test_ridge_of_a_mix():
    # 100 FLOPs at 100/s and 200 at 200/s: 300 FLOPs in 2 s, 150 FLOP/s over 10 bytes/s
    assert bounds([Work({"float32": 100, "float16": 200}, 1)], 1, SIMPLE).ridge == 150 / 10


def test_a_bound_with_fewer_assumptions_holds_under_more():
    # cycling through 1000 bytes of weights runs at DRAM speed, though each node's own 10 bytes would fit a cache
    cached = device({"float32": 100.0}, ((0, 100.0), (1000, 1.0)))
    bound = bounds([Work({}, 10)] * 100, 1000, cached, [Work({}, 20)] * 50)
    assert bound.floor_s == bound.fused_s == bound.per_op_s == 1000 / 1


def test_unknown_bound_is_none():
    bound = bounds([Work({"float32": 1}, 1)], 1, device({}, ()))
    assert (bound.floor_s, bound.fused_s, bound.per_op_s) == (None, None, None)
    assert (bound.intensity, bound.ridge) == (1, None)
    assert bound.missing == ("peak of float32", "bandwidth")
    assert str(bound) == "d (measured): unknown; limited by unknown; left out: peak of float32, bandwidth"


def test_record():
    bound = bounds([Work({"float32": 10**12}, 10**6)], 10**6, A100)
    record = json.loads(json.dumps(bound.to_dict()))
    assert {"device", "kind", "floor_s", "fused_s", "per_op_s", "limited_by"} <= record.keys()
    assert (record["kind"], record["cold"], record["fused_s"]) == ("datasheet", True, None)
    assert str(bound).startswith("NVIDIA A100-SXM4-80GB (cold, datasheet): floor 51.28 ms, per op 51.28 ms")
    assert bound._repr_html_().startswith("<pre>")


COUNTS = st.integers(0, 10**12)
WORKS = st.builds(Work, st.dictionaries(st.sampled_from(["float32", "float16", "int64"]), COUNTS), COUNTS)
CURVES = st.lists(st.tuples(st.integers(0, 10**12), st.floats(1, 1e12)), max_size=5, unique_by=lambda p: p[0])
DEVICES = st.builds(
    lambda peaks, curve: device(peaks, tuple(sorted(curve))),
    st.dictionaries(st.sampled_from(["float32", "float16", "int8"]), st.floats(1, 1e12)),
    CURVES,
)


@given(nodes=st.lists(st.tuples(WORKS, st.integers(0, 3)), min_size=1, max_size=6), share=st.floats(0, 1), on=DEVICES)
def test_bounds_rise(nodes, share, on):
    """floor <= fused <= per-op, for any grouping whose bytes lie between the compulsory ones and the nodes' own."""
    works = [work for work, _ in nodes]
    groups = [merged([work for work, group in nodes if group == chosen], share) for chosen in {g for _, g in nodes}]
    compulsory = sum(math.floor(share * group.bytes_moved) for group in groups)
    bound = bounds(works, compulsory, on, groups)
    known = [seconds for seconds in (bound.floor_s, bound.fused_s, bound.per_op_s) if seconds is not None]
    assert known == sorted(known)


def merged(works: list[Work], share: float) -> Work:
    flops = {kind: sum(work.flops_by_type.get(kind, 0) for work in works) for kind in ("float32", "float16", "int64")}
    return Work(flops, math.ceil(share * sum(work.bytes_moved for work in works)))


@given(works=st.lists(WORKS, min_size=1, max_size=6), rate=st.floats(1, 1e12), peak=st.floats(1, 1e12))
def test_on_one_bandwidth_the_sum_over_nodes_is_above_the_floor_by_itself(works, rate, peak):
    """The rise above is arithmetic, not the clamp, where the bandwidth is one number."""
    on = device({"float32": peak}, ((0, rate),))
    each = sum(kernel_bound(work, on).seconds for work in works)
    floor = bounds(works, sum(work.bytes_moved for work in works), on).floor_s
    assert each >= floor * (1 - 1e-9)


@given(work=WORKS, more=st.integers(1, 10**12), on=DEVICES)
def test_more_work_never_takes_less(work, more, on):
    before = kernel_bound(work, on).seconds
    moved = kernel_bound(Work(work.flops_by_type, work.bytes_moved + more), on).seconds
    flops = {**work.flops_by_type, "float32": work.flops_by_type.get("float32", 0) + more}
    computed = kernel_bound(Work(flops, work.bytes_moved), on).seconds
    for after in (moved, computed):
        assert before is None or after is None or after >= before * (1 - 1e-12)


@given(work=WORKS, on=DEVICES, factor=st.floats(1, 100))
def test_a_faster_device_never_takes_longer(work, on, factor):
    faster = device({k: v * factor for k, v in on.peaks.items()}, tuple((s, r * factor) for s, r in on.bandwidth_curve))
    slow, fast = kernel_bound(work, on).seconds, kernel_bound(work, faster).seconds
    assert (slow is None) == (fast is None)
    assert slow is None or fast <= slow * (1 + 1e-12)


def test_a_cold_floor_takes_every_byte_from_dram():
    """1,000 bytes at 1 byte/s, where a cache gives 10 times that; the FLOPs take 500 s either way."""
    cached = device({"float32": 1.0}, ((100, 10.0), (10_000, 1.0)))
    found = bounds([Work({"float32": 500}, 1000)], 1000, cached)
    assert (found.floor_s, found.cold_floor_s) == (500, 1000)
    assert found.limited_by == "compute"

"""The gap: each cause by hand, and floor and causes that add up to what was measured, whatever that is."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.errors import DeviceError
from neural_cost.analyzer.gap.analyze import analyze_gap
from neural_cost.analyzer.gap.groups import module_gaps, node_gaps
from neural_cost.analyzer.gap.record import CAUSES, FAULTS
from neural_cost.analyzer.tables.gap import bar, gap_blocks
from neural_cost.analyzer.tables.text import to_text
from tests.analyzer.gap.made import DEVICE, NS, PRODUCT, ROUND, Timed, analyzed, kernel

LOOP = """g (float[4, 4] x) => (float[4, 4] y) {
    n = Constant <value = int64 {3}> ()  go = Constant <value = bool {1}> ()
    y = Loop(n, go, x) <body = b (int64 i, bool c, float[4, 4] s) => (bool c2, float[4, 4] t) {
        c2 = Identity(c)  t = Relu(s) }> }"""


def in_ns(gap):
    return {cause.cause: round(cause.seconds / NS, 6) for cause in gap.causes if abs(cause.seconds) > 1e-6 * NS}


def test_causes_by_hand(tmp_path):
    """In ns: compute 1024 + 64; compulsory x 128 + w 512 + y 256 = 896; so the floor is 1088, of compute.

    The product alone needs max(1024, 896), and its own part of the floor is max(1024, 640) of it: all. Relu needs 512
    for m and y, of which only y is compulsory: a floor of 256, and 256 that fusion would save. One after another their
    floors are 1024 + 256, 192 more than both at once. What is above: 2000 - 1024 and 700 - 512.
    """
    report = analyzed(PRODUCT, tmp_path)
    ran = [kernel(report, [0], 2000), kernel(report, [], 100), kernel(report, [1], 700)]
    gap = analyze_gap(report, Timed(3300, 3000), kernels=ran)
    assert gap.floor_s == pytest.approx(1088 * NS)
    assert gap.limited_by == "compute"
    assert in_ns(gap) == {
        "overlap": 192, "fusion": 256, "kernel": 976 + 188, "conversion": 100, "dispatch": 200, "jitter": 300,
    }  # fmt: skip
    assert gap.explained_share == 1


def test_one_kernel_for_both_has_no_traffic_to_save(tmp_path):
    report = analyzed(PRODUCT, tmp_path)
    gap = analyze_gap(report, Timed(1500, 1500), kernels=[kernel(report, [0, 1], 1500)])
    assert in_ns(gap) == {"kernel": 1500 - 1088}


def test_starting_kernels(tmp_path):
    """200 of 3000 ns are between two kernels: 100 each; an empty one costs 130, so 30 of each is inside."""
    device = replace(DEVICE, dispatch_s=130 * NS)
    report = analyzed(PRODUCT, tmp_path, device)
    gap = analyze_gap(report, Timed(3000, 3000), kernels=[kernel(report, [0], 2100), kernel(report, [1], 700)])
    assert in_ns(gap)["dispatch"] == 200 + 2 * 30
    assert in_ns(gap)["kernel"] == 2100 - 1024 + 700 - 512 - 2 * 30


def test_small_products_reach_less(tmp_path):
    """512 MACs are a product of 8 x 8 matrices, half way (by logarithms) between 4 and 16: 0.75 FLOP/ns."""
    device = replace(DEVICE, peak_curves={"float32": ((4, 0.5e9), (16, 1e9))})
    report = analyzed(PRODUCT, tmp_path, device)
    gap = analyze_gap(report, Timed(2700, 2700), kernels=[kernel(report, [0], 2000), kernel(report, [1], 700)])
    slower = 1024 / 0.75 - 1024
    assert in_ns(gap)["size"] == pytest.approx(slower, abs=1e-5)
    assert in_ns(gap)["kernel"] == pytest.approx(2000 - 1024 - slower + 188, abs=1e-5)


def test_size_takes_no_more_than_there_is(tmp_path):
    device = replace(DEVICE, peak_curves={"float32": ((4, 0.1e9),)})
    report = analyzed(PRODUCT, tmp_path, device)
    gap = analyze_gap(report, Timed(1700, 1700), kernels=[kernel(report, [0], 1100), kernel(report, [1], 600)])
    assert in_ns(gap) == {"overlap": 192, "fusion": 256, "size": 1100 - 1024, "kernel": 600 - 512}


def test_kernels_of_a_slower_run_are_put_on_the_scale_of_the_fastest(tmp_path):
    report = analyzed(PRODUCT, tmp_path)
    gap = analyze_gap(report, Timed(1500, 1500), kernels=[kernel(report, [0, 1], 3000)])
    assert in_ns(gap) == {"kernel": 1500 - 1088}


def test_a_kernel_faster_than_its_bound_is_a_fault(tmp_path):
    report = analyzed(PRODUCT, tmp_path)
    gap = analyze_gap(report, Timed(1500, 1500), kernels=[kernel(report, [0], 900), kernel(report, [1], 600)])
    assert in_ns(gap)["bound violated"] == 900 - 1024
    assert not gap.bound_violated  # of the whole it is not
    assert [cause.cause for cause in gap.causes if cause.seconds < 0] == ["bound violated"]


def test_a_run_faster_than_the_floor_is_a_violation(tmp_path):
    report = analyzed(PRODUCT, tmp_path)
    gap = analyze_gap(report, Timed(1000, 1000), kernels=[kernel(report, [0, 1], 1000)])
    assert gap.bound_violated
    assert in_ns(gap) == {"bound violated": 1000 - 1088}


def test_what_no_kernel_did_is_left_out(tmp_path):
    """Without Relu's kernel, its 64 ns of compute and the 256 of y are in the floor alone."""
    report = analyzed(PRODUCT, tmp_path)
    gap = analyze_gap(report, Timed(1024, 1024), kernels=[kernel(report, [0], 1024)])
    assert in_ns(gap) == {"overlap": 1024 + 256 - 1088, "left out": -256}


def test_kernels_of_unknown_work_are_unexplained(tmp_path):
    report = analyzed(PRODUCT, tmp_path)
    unknown = kernel(report, [], 50, inserted=False)
    gap = analyze_gap(report, Timed(1550, 1550), kernels=[kernel(report, [0, 1], 1500), unknown])
    assert in_ns(gap) == {"kernel": 1500 - 1088, "unexplained": 50}
    assert gap.explained_share == pytest.approx(1 - 50 / 1550)


def test_a_loop_only_starts_its_body(tmp_path):
    """Its input and output, 64 bytes each, are compulsory; the rest of its own time is starting.

    Each of three Relu has 16 FLOPs and moves 128 bytes, which fusion would save.
    """
    report = analyzed(LOOP, tmp_path)
    loop, relu = (next(p for p, node in enumerate(report.nodes) if node.op_type == kind) for kind in ("Loop", "Relu"))
    gap = analyze_gap(report, Timed(1000, 1000), kernels=[kernel(report, [loop], 400), kernel(report, [relu], 600)])
    assert gap.floor_s == pytest.approx(128 * NS)
    assert in_ns(gap) == {"overlap": 48, "fusion": 3 * 128 - 48, "kernel": 600 - 384, "dispatch": 400 - 128}


def test_without_kernels_the_gap_stays_whole(tmp_path):
    gap = analyze_gap(analyzed(PRODUCT, tmp_path), Timed(3300, 3000))
    assert in_ns(gap) == {"unexplained": 3000 - 1088, "jitter": 300}
    assert any("kernels were not timed" in note for note in gap.notes)


def test_another_device_than_the_reports(tmp_path):
    fast = Device(**ROUND, peaks={"float32": 2e9}, bandwidth_curve=((0, 1e9),))
    gap = analyze_gap(analyzed(PRODUCT, tmp_path), Timed(3300, 3000), fast)
    assert (gap.floor_s, gap.limited_by) == (pytest.approx(896 * NS), "memory")


def test_no_device_is_told(tmp_path):
    with pytest.raises(DeviceError, match="give a device"):
        analyze_gap(analyzed(PRODUCT, tmp_path, None), Timed(1, 1))


def test_a_device_without_bandwidth_says_so(tmp_path):
    device = Device(**{**ROUND, "kind": "datasheet"}, peaks={"float32": 1e9})
    report = analyzed(PRODUCT, tmp_path, device)
    gap = analyze_gap(report, Timed(2000, 2000), kernels=[kernel(report, [0, 1], 2000)])
    assert in_ns(gap) == {"kernel": 2000 - 1088}
    assert any("not known of round: bandwidth" in note for note in gap.notes)
    assert not any("DRAM" in note for note in gap.notes)  # there is no figure of it


def test_nodes_and_modules_add_up(tmp_path):
    """Of a kernel for both, each has as much as its own bound is: 1024 and 512 of 1536."""
    report = analyzed(PRODUCT, tmp_path)
    gap = analyze_gap(report, Timed(1500, 1500), kernels=[kernel(report, [0, 1], 1536)])
    product, relu = node_gaps(report, gap)
    assert (product.places, relu.places) == ((0,), (1,))
    assert product.seconds / NS == pytest.approx(1500 * 2 / 3)
    assert relu.seconds / NS == pytest.approx(1500 / 3)
    (module,) = module_gaps(report, gap)
    assert module.seconds == pytest.approx(1500 * NS)
    assert module.floor_s == pytest.approx(1088 * NS)
    for group in (product, relu, module):
        assert group.floor_s + sum(cause.seconds for cause in group.causes) == pytest.approx(group.seconds, abs=1e-15)


def test_conversions_stand_at_the_nodes_that_they_serve(tmp_path):
    """100 for the product's kernel and 90 for that of both, of which the product has 1024 of 1536: 100 + 60, and 30.

    5 of a kernel that serves nobody are in the whole alone.
    """
    report = analyzed(PRODUCT, tmp_path)
    ran = [kernel(report, [0], 2000), kernel(report, [1], 700), *(
        kernel(report, [], ns, serves=serves) for ns, serves in [(100, (0,)), (90, (0, 1)), (5, ())]
    )]  # fmt: skip
    gap = analyze_gap(report, Timed(2895, 2895), kernels=ran)
    assert in_ns(gap)["conversion"] == 195
    assert {place: round(parts.conversion_s / NS, 6) for place, parts in gap.nodes.items()} == {0: 160, 1: 30}
    assert [round(group.seconds / NS, 6) for group in node_gaps(report, gap)] == [2160, 730]
    (module,) = module_gaps(report, gap)
    assert {cause.cause: round(cause.seconds / NS) for cause in module.causes}["conversion"] == 190


def test_a_kernel_and_those_that_do_a_part_of_its_work_are_one(tmp_path):
    """A product in two kernels of 1500 and 500 has the causes of one of 2000; two starts cost 2 x 30."""
    device = replace(DEVICE, dispatch_s=30 * NS)
    report = analyzed(PRODUCT, tmp_path, device)
    ran = [kernel(report, [0], 500, "Pack", joined=True, work=None), kernel(report, [0], 1500, helped=True)]
    gap = analyze_gap(report, Timed(2700, 2700), kernels=[*ran, kernel(report, [1], 700)])
    assert in_ns(gap) == {
        "overlap": 192, "fusion": 256, "kernel": 2000 - 1024 - 60 + 700 - 512 - 30, "dispatch": 90,
    }  # fmt: skip
    assert gap.nodes[0].seconds == pytest.approx(2000 * NS)
    assert ran[1].flops == 1024
    assert (ran[1].flops_per_s, ran[1].bytes_per_s, ran[1].efficiency) == (None, None, None)


def test_a_module_overlaps_its_kernels(tmp_path):
    report = analyzed(PRODUCT, tmp_path)
    gap = analyze_gap(report, Timed(2700, 2700), kernels=[kernel(report, [0], 2000), kernel(report, [1], 700)])
    (module,) = module_gaps(report, gap)
    assert {cause.cause: round(cause.seconds / NS) for cause in module.causes} == {
        "overlap": 192, "fusion": 256, "kernel": 1164,
    }  # fmt: skip


TIMES = st.floats(0, 1e7, allow_subnormal=False)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_floor_and_causes_add_up(data, tmp_path_factory):
    """To less than a nanosecond, whatever the device, the kernels and their times."""
    report = data.draw(st.sampled_from(_reports(tmp_path_factory)))
    device = Device(
        **ROUND,
        peaks=data.draw(st.sampled_from([{}, {"float32": 1e9}, {"float32": 3e10, "int64": 1e9}])),
        bandwidth_curve=data.draw(st.sampled_from([(), ((0, 1e9),), ((0, 5e9), (300, 1e9))])),
        peak_curves=data.draw(st.sampled_from([{}, {"float32": ((2, 1e8), (64, 1e9))}])),
        dispatch_s=data.draw(st.sampled_from([None, 1e-7])),
    )
    ran = [
        kernel(
            report,
            data.draw(st.lists(st.integers(0, len(report.nodes) - 1), max_size=2, unique=True)),
            data.draw(TIMES),
            inserted=data.draw(st.booleans()),
            joined=data.draw(st.booleans()),
            serves=tuple(data.draw(st.lists(st.integers(0, len(report.nodes) - 1), max_size=2, unique=True))),
        )
        for _ in range(data.draw(st.integers(0, 4)))
    ]
    least = data.draw(st.floats(1, 1e7))
    gap = analyze_gap(report, Timed(least + data.draw(TIMES), least), device, kernels=ran)
    assert gap.floor_s + sum(cause.seconds for cause in gap.causes) == pytest.approx(gap.measured_s, abs=1e-12)
    assert [cause.cause for cause in gap.causes] == list(CAUSES)
    assert all(cause.seconds >= -1e-15 for cause in gap.causes if cause.cause not in FAULTS)
    for group in (*node_gaps(report, gap), *module_gaps(report, gap)):
        assert group.floor_s + sum(cause.seconds for cause in group.causes) == pytest.approx(group.seconds, abs=1e-12)
    laid = sum(c.seconds for group in module_gaps(report, gap) for c in group.causes if c.cause == "conversion")
    assert laid <= gap.seconds("conversion") + 1e-15
    assert to_text(gap_blocks(gap))


REPORTS = []


def _reports(folders):
    if not REPORTS:
        REPORTS.extend(analyzed(text, folders.mktemp("gap")) for text in (PRODUCT, LOOP))
    return REPORTS


@pytest.mark.parametrize(
    ("start", "length", "text"),
    [(0, 10, "█" * 10), (0, 5, "█" * 5), (5, 5, "·" * 5 + "█" * 5), (10, -5, "·" * 5 + "█" * 5), (2, 0.5, "··▌"),
     (10, 0, "·" * 9 + "▏")],
)  # fmt: skip
def test_bars(start, length, text):
    assert bar(start, length, 10, width=10) == text

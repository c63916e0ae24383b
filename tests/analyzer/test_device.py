"""Device: peaks for every compute type, and the bandwidth curve."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neural_cost.analyzer.compute_type import WIDTHS, canonical, ceiling, substitution
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.device_table import find_device, list_devices
from neural_cost.analyzer.errors import DeviceError
from neural_cost.analyzer.node import BITS


def device(peaks: dict[str, float] | None = None, curve: tuple[tuple[int, float], ...] = ()) -> Device:
    return Device(name="d", kind="measured", vendor="v", type="cpu", peaks=peaks or {}, bandwidth_curve=curve)


def test_every_onnx_type_has_a_compute_type():
    assert {canonical(name) for name in BITS} == set(WIDTHS) - {"tf32"}
    assert all(BITS[name] == WIDTHS[name] for name in BITS if name in WIDTHS)
    assert canonical("string") is None


@pytest.mark.parametrize(
    ("peaks", "kind", "rate"),
    [
        ({"float32": 20, "tf32": 160}, "float32", 20),  # IEEE, not TF32
        ({"float32": 20, "tf32": 160}, "tf32", 160),
        ({"float16": 1, "float32": 11}, "float16", 11),  # slow float16 runs as float32
        ({"float16": 100, "bfloat16": 300}, "float16", 100),  # bfloat16 does not hold every float16
        ({"float32": 10, "float16": 80, "int8": 160}, "int64", 160),  # no figure: the highest
        ({"float32": 10, "float16": 80, "int8": 160}, "bool", 160),
        ({"float32": 10, "float16": 80, "int8": 160}, "uint8", 160),
        ({"float32": 10, "float16": 80, "int8": 160}, "int4", 2 * 160),  # half the width: at most twice
        ({"float32": 11}, "int8", 4 * 11),  # four products to a 32-bit lane
        ({"float32": 10}, "float16", 2 * 10),
        ({"float32": 44, "int8": 296, "float8": 296}, "float64", 44),  # what does float64 could do float32 in it
        ({"bfloat16": 275, "int8": 550}, "float32", 275),  # integer units do no float32
        ({"int8": 4}, "float32", 4),
        ({"float32": 10}, "complex64", 10),
        ({"float8": 5}, "float8e4m3fn", 5),
        ({"float32": 10}, "string", None),
        ({}, "float32", None),
    ],
)
def test_peak(peaks, kind, rate):
    assert device(peaks).peak(kind) == rate


@given(
    peaks=st.dictionaries(st.sampled_from(sorted(WIDTHS)), st.floats(1, 1e6), min_size=1),
    kind=st.sampled_from(sorted(BITS)),
)
def test_a_ceiling_is_never_below_the_figure_and_never_missing(peaks, kind):
    rate = ceiling(peaks, kind)
    assert rate is not None
    assert rate.flops >= peaks.get(canonical(kind) or "", 0)
    assert rate.flops == peaks[rate.of] * rate.times
    own = canonical(kind)
    assert (substitution(peaks, kind) is None) == (rate.of == own)


@pytest.mark.parametrize(
    ("peaks", "kind", "said"),
    [
        ({"float32": 20}, "float32", None),
        ({"float32": 20, "int8": 160}, "uint8", None),
        ({"float32": 20, "int8": 160}, "float64", "float64 at the rate of float32, having no figure"),
        ({"float32": 20, "int8": 160}, "int64", "int64 at the rate of int8, having no figure"),
        ({"float32": 20}, "int8", "int8 at 4 times the rate of float32, having no figure"),
        ({"bfloat16": 275, "int8": 275}, "float32", "float32 at the rate of bfloat16, having no figure"),
        ({"float16": 1, "float32": 11}, "float16", "float16 at the rate of float32, in which it can run"),
        ({}, "float32", None),  # nothing is known, and the bound lists it as left out
    ],
)
def test_a_rate_of_another_type_is_named(peaks, kind, said):
    assert device(peaks).substitution(kind) == said


def test_no_device_of_the_table_does_float64_faster_than_float32():
    """So the rate of float32 bounds float64 where the table has none."""
    for known in list_devices():
        assert known.peaks.get("float64", 0) <= known.peaks.get("float32", math.inf), known.name


def test_every_device_of_the_table_answers_for_every_type_or_for_none():
    for known in list_devices():
        answers = {known.peak(kind) is None for kind in BITS}
        assert answers == {not known.peaks}


def test_datasheet_bandwidth_is_one_number():
    a100 = find_device("NVIDIA A100-SXM4-80GB")
    assert {a100.bandwidth(size) for size in (0, 1, 10**12)} == {2039e9}
    assert a100.cold
    assert device().bandwidth(100) is None
    assert device().memory_bandwidth is None


def test_measured_bandwidth_steps_down_and_never_rises():
    curve = ((1_000, 20.0), (10_000, 90.0), (100_000, 50.0), (1_000_000, 10.0))
    measured = device(curve=curve)
    # at 1000 bytes overhead shows: a larger set runs at 90, so no lower rate is a ceiling
    assert [measured.bandwidth(size) for size in (1, 1_000, 9_999)] == [90.0, 90.0, 90.0]
    assert [measured.bandwidth(size) for size in (10_000, 99_999)] == [90.0, 90.0]
    assert [measured.bandwidth(size) for size in (100_000, 999_999, 10**9)] == [50.0, 50.0, 10.0]
    assert measured.memory_bandwidth == 10.0
    assert not measured.cold


@pytest.mark.parametrize(
    ("peaks", "curve", "complaint"),
    [
        ({"float32": 0.0}, (), "not above 0"),
        ({"float32": float("nan")}, (), "not above 0"),
        ({}, ((0, -1.0),), "not above 0"),
        ({"fp32": 1.0}, (), "fp32 is no compute type"),
        ({}, ((10, 1.0), (1, 2.0)), "sort the bandwidth curve"),
    ],
)
def test_a_figure_that_is_none_is_refused(peaks, curve, complaint):
    with pytest.raises(DeviceError, match=complaint):
        device(peaks, curve)


def test_record():
    a100 = find_device("NVIDIA A100-SXM4-80GB")
    record = json.loads(json.dumps(a100.to_dict()))
    assert record["memory_bandwidth"] == 2039e9
    assert record["bandwidth_curve"] == [[0, 2039e9]]
    assert record["peaks"]["int8"] == 624e12
    assert record.keys() == {*Device.__slots__, "memory_bandwidth"} - {"kernels"}
    assert str(a100).startswith("NVIDIA A100-SXM4-80GB (gpu, datasheet): float64 19.5, float32 19.5, tf32 156")
    assert str(device()) == "d (cpu, measured): peaks unknown; bandwidth unknown"
    assert "&lt;" in Device(name="<b>", kind="measured", vendor="", type="cpu", peaks={})._repr_html_()

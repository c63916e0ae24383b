"""Roofs and slopes of a device."""

from dataclasses import replace

import pytest

from neural_cost.analyzer.device import Device
from neural_cost.render.plots.ceilings import Slope, roofs, slopes
from neural_cost.render.plots.roofline import Ceilings

KIB, MIB = 1 << 10, 1 << 20
MEASURED = Device(
    name="Own", kind="measured", vendor="", type="cpu",
    peaks={"float32": 160e9, "float64": 80e9, "int8": 500e9},
    bandwidth_curve=(
        (64 * KIB, 100e9), (256 * KIB, 93e9), (1 * MIB, 70e9),  # no drop below 0.6 of the first
        (2 * MIB, 55e9),  # 0.55 of 100
        (4 * MIB, 35e9),
        (32 * MIB, 18e9),  # 0.33 of 55
        (64 * MIB, 13.5e9), (256 * MIB, 13e9),  # as fast as the largest: memory itself
    ),
)  # fmt: skip


def test_a_measured_curve_is_cut_where_its_rate_drops():
    assert slopes(MEASURED) == [
        Slope("below 2 MiB", 100e9),
        Slope("2 MiB to 32 MiB", 55e9),
        Slope("32 MiB to 64 MiB", 18e9),
        Slope("from 64 MiB", 13.5e9),
    ]


@pytest.mark.parametrize("size", [1, 100 * KIB, 1 * MIB, 3 * MIB, 31 * MIB, 40 * MIB, 64 * MIB, 1 << 40])
def test_no_working_set_is_faster_than_the_slope_of_its_level(size):
    starts = [0, 2 * MIB, 32 * MIB, 64 * MIB]
    level = sum(start <= size for start in starts) - 1
    assert MEASURED.bandwidth(size) <= slopes(MEASURED)[level].bytes_per_s


def test_a_datasheet_has_one_slope_and_an_empty_curve_none():
    sheet = replace(MEASURED, kind="datasheet", bandwidth_curve=((0, 2e12),))
    assert slopes(sheet) == [Slope("DRAM", 2e12)]
    assert slopes(replace(sheet, bandwidth_curve=())) == []
    assert slopes(replace(MEASURED, bandwidth_curve=())) == []
    assert slopes(replace(MEASURED, bandwidth_curve=((KIB, 5e9),))) == [Slope("any working set", 5e9)]


def test_types_of_one_rate_share_a_roof_and_those_of_the_model_are_marked():
    found = roofs(MEASURED, {"float32": 10, "uint8": 5, "int8": 1, "string": 3})
    # float64 has no use here; int64 would be bounded as int8; a string computes nothing
    assert [(roof.types, roof.flops_per_s, roof.flops) for roof in found] == [
        (("float64",), 80e9, 0),
        (("float32",), 160e9, 10),
        (("int8",), 500e9, 6),
    ]
    assert [roof.used for roof in found] == [False, True, True]
    assert found[1].label == "float32\n160 GFLOP/s"


def test_ridges_are_where_slopes_meet_the_roofs_of_the_model():
    ceilings = Ceilings(roofs(MEASURED, {"float32": 1}), [Slope("a", 40e9), Slope("b", 10e9)])
    assert ceilings.ridges == [(4.0, 160e9), (16.0, 160e9)]
    assert ceilings.corners == [2.0, 4.0, 12.5]  # 80, 160 and 500 over the fastest, 40

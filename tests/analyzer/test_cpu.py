"""Peaks of CPUs: cores x FLOPs per cycle x clock, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from neural_cost.analyzer.cpu import cpu_device
from neural_cost.analyzer.cpu_clocks import clock_of
from neural_cost.analyzer.cpu_info import CoreGroup, CpuInfo
from neural_cost.analyzer.cpu_rates import group_rates
from neural_cost.analyzer.device_table import read_table
from neural_cost.analyzer.roofline import Work, bounds
from neural_cost.runtime.linux_cpu import linux_cpu
from neural_cost.runtime.macos_cpu import macos_cpu, parse_sysctl
from tests.runtime.machines import AVX2, AVX512, HYBRID, M2_MAX, N1, XEON, ZEN3

AVX2_FLAGS = frozenset(AVX2.split())
AVX512_FLAGS = frozenset(AVX512.split())


def intel(model: int, flags: frozenset[str], name: str = "Intel", **group: object) -> CpuInfo:
    cores = CoreGroup(**{"cores": 1, "max_mhz": 1000.0, **group})
    return CpuInfo(
        name=name, vendor="GenuineIntel", machine="x86_64", family=6, model=model, flags=flags, groups=(cores,)
    )


def per_cycle(info: CpuInfo, kind: str) -> float:
    rates = group_rates(info, info.groups[0])
    assert rates is not None
    return rates.per_cycle[kind]


def test_avx512_xeon():
    device = cpu_device(linux_cpu(XEON.get, range(16), "x86_64"))
    # 8 cores x (2 units x 16 lanes x 2 FLOPs) x 3.5 GHz
    assert device.peak("float32") == 8 * 64 * 3.5e9
    assert device.peak("float64") == 8 * 32 * 3.5e9
    assert device.peak("int8") == 8 * 4 * 64 * 3.5e9  # vpdpbusd: 4 products to a 32-bit lane
    assert device.peak("float16") == device.peak("bfloat16") == device.peak("float32")  # converted: neither flag
    assert "Ice Lake-SP" in device.name
    assert device.memory_bytes == 32_000_000 * 1024


def test_zen3_in_a_virtual_machine_may_turbo():
    device = cpu_device(linux_cpu(ZEN3.get, {0, 1}, "x86_64"))
    # 2 cores x (2 x 8 lanes x 2 FLOPs) x 4.1 GHz, which an EPYC 72F3 reaches, not the 2.445 GHz that are reported
    assert device.peak("float32") == pytest.approx(2 * 32 * 4.1e9)
    assert device.confidence == "low"
    assert any("reports 2445 MHz: 4100 MHz is taken" in note and "EPYC 72F3" in note for note in device.notes)
    assert device.caveat == ""
    assert device.memory_bandwidth is None
    assert any("bandwidth unknown" in note for note in device.notes)


@pytest.mark.parametrize(
    ("model", "name", "role", "ghz"),
    [
        (0x55, "Intel(R) Xeon(R) CPU @ 2.00GHz", "", 4.5),  # Xeon Gold 6250
        (0x55, "Intel(R) Xeon(R) W-2295 CPU @ 3.00GHz", "", 5.1),
        (0x8F, "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", "", 4.8),
        (0x9A, "12th Gen Intel(R) Core(TM) i5-1235U", "performance", 6.2),
        (0x9A, "12th Gen Intel(R) Core(TM) i5-1235U", "efficiency", 4.5),
    ],
)
def test_a_clock_that_is_not_told_is_the_highest_of_its_kind(model, name, role, ghz):
    info = intel(model, AVX512_FLAGS, name, max_mhz=None, mhz=1996.0, role=role)
    rates = group_rates(info, info.groups[0])
    assert rates is not None
    assert (rates.clock.hertz, rates.clock.origin) == (ghz * 1e9, "table")


def test_a_clock_above_the_table_is_believed():
    info = intel(0x9E, AVX2_FLAGS, max_mhz=None, mhz=5500.0)
    assert cpu_device(info).peak("float32") == 32 * 5.5e9


def test_a_chip_that_no_table_has_says_in_its_bound_that_a_turbo_can_beat_it():
    device = cpu_device(intel(0xFE, AVX2_FLAGS, max_mhz=None, mhz=1996.0))
    assert device.peak("float32") == 32 * 1.996e9
    assert device.caveat == "at the clock the machine reports, and a turbo can beat it"
    assert any("1996 MHz: peaks are at that clock" in note for note in device.notes)
    bound = bounds([Work({"float32": 100}, 0)], 0, device)
    assert bound.caveat == device.caveat
    assert f"(cold, datasheet, {device.caveat})" in str(bound)


def test_a_clock_that_is_told_has_no_caveat():
    assert cpu_device(linux_cpu(XEON.get, range(16), "x86_64")).caveat == ""


def test_every_x86_of_the_table_has_a_highest_clock():
    """But for Zen 6, of which nothing is established."""
    for row in read_table("cpu_uarch.csv"):
        if row["vendor"] not in ("GenuineIntel", "AuthenticAMD") or row["uarch"] == "Zen 6":
            continue
        for span in row["models"].split():
            model = int(span.partition("-")[0], 16)
            group = CoreGroup(cores=1, mhz=1000.0, role=row["role"])
            info = CpuInfo(
                name="", vendor=row["vendor"], machine="x86_64", family=int(row["family"], 16), model=model,
                groups=(group,),
            )  # fmt: skip
            clock = clock_of(info, group)
            assert clock is not None
            assert clock.origin == "table", (row["uarch"], span)


def test_neoverse_n1():
    device = cpu_device(linux_cpu(N1.get, range(4), "aarch64"))
    assert device.peak("float32") == 4 * 16 * 2.5e9  # 2 units x 4 lanes x 2 FLOPs
    assert device.peak("float16") == 2 * 4 * 16 * 2.5e9  # asimdhp
    assert device.peak("bfloat16") == device.peak("float32")  # no bf16 flag
    assert "Neoverse N1" in device.name


def test_hybrid_adds_its_two_kinds_of_cores():
    device = cpu_device(linux_cpu(HYBRID.get, range(8), "x86_64"))
    assert device.peak("float32") == pytest.approx(2 * 32 * 4.4e9 + 4 * 16 * 3.3e9)


def test_quota_takes_the_fastest_cores_first():
    info = replace(linux_cpu(HYBRID.get, range(8), "x86_64"), quota_cpus=2.5)
    device = cpu_device(info)
    assert device.peak("float32") == pytest.approx(2 * 32 * 4.4e9 + 0.5 * 16 * 3.3e9)
    assert any("2.5 of 6 cores" in note for note in device.notes)
    assert device.caveat == "sustained under a cgroup's quota, and a short run can beat it"


def test_quota_above_the_cores_changes_nothing():
    info = linux_cpu(XEON.get, range(16), "x86_64")
    assert cpu_device(replace(info, quota_cpus=99.0)).peaks == cpu_device(info).peaks


def test_apple_counts_matrix_blocks_and_the_chip_bandwidth():
    device = cpu_device(macos_cpu(parse_sysctl(M2_MAX)))
    # 8 performance and 4 efficiency cores, 2 and 1 matrix blocks, all at 3.696 GHz
    assert device.peak("float32") == pytest.approx((8 * 32 + 4 * 16 + 3 * 512) * 3.696e9)
    assert device.memory_bandwidth == 400e9  # hardware.csv, Apple M2 Max
    assert any("matrix blocks" in note for note in device.notes)


@pytest.mark.parametrize(
    ("model", "flags", "name", "fp32"),
    [
        (0x55, AVX512_FLAGS, "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", 64),
        (0x55, AVX512_FLAGS, "Intel(R) Xeon(R) Silver 4110 CPU @ 2.10GHz", 32),
        (0x55, AVX512_FLAGS, "Intel(R) Xeon(R) Gold 5218 CPU @ 2.30GHz", 32),
        (0x55, AVX512_FLAGS, "Intel(R) Xeon(R) Gold 5122 CPU @ 3.60GHz", 64),
        (0x55, AVX2_FLAGS, "masked by a hypervisor", 32),
        (0x9E, AVX2_FLAGS, "Core i7-8700", 32),
        (0x3A, frozenset({"sse2", "avx"}), "Ivy Bridge", 16),
        (0x17, frozenset({"sse2"}), "Core 2", 8),
    ],
)
def test_intel_rows(model, flags, name, fp32):
    assert per_cycle(intel(model, flags, name), "float32") == fp32


@pytest.mark.parametrize(
    ("flags", "kind", "rate"),
    [
        ("avx512_fp16", "float16", 128),
        ("avx512_bf16", "bfloat16", 128),
        ("amx_bf16", "bfloat16", 1024),
        ("amx_int8", "int8", 2048),
        ("", "float16", 64),
        ("", "bfloat16", 64),
        ("", "int8", 256),
    ],
)
def test_multiples_come_from_flags(flags, kind, rate):
    sapphire_rapids = intel(0x8F, AVX512_FLAGS | set(flags.split()))
    assert per_cycle(sapphire_rapids, kind) == rate


def test_unknown_microarchitecture_takes_the_highest_known_and_says_so():
    device = cpu_device(intel(0xFE, AVX512_FLAGS))
    assert device.peak("float32") == 64e9  # 1 core x 64 x 1 GHz: no x86 in the table does more
    assert device.confidence == "low"
    assert any("not in the table" in note for note in device.notes)


def test_row_without_a_figure_says_so():
    zen6 = CpuInfo(
        name="Zen 6", vendor="AuthenticAMD", machine="x86_64", family=0x1A, model=0x50, flags=AVX512_FLAGS,
        groups=(CoreGroup(cores=1, max_mhz=1000.0),),
    )  # fmt: skip
    device = cpu_device(zen6)
    assert device.peak("float32") == 64e9
    assert any("'Zen 6' has no figure" in note for note in device.notes)


@pytest.mark.parametrize("info", [intel(0x9E, AVX2_FLAGS, max_mhz=None), intel(0x9E, frozenset())])
def test_no_clock_or_no_instruction_set_is_unknown(info):
    device = cpu_device(info)
    assert device.peak("float32") is None
    assert device.confidence == "low"
    assert any("peaks unknown" in note for note in device.notes)


@pytest.mark.parametrize(("threads", "cores"), [(1, 1), (3, 3), (8, 8), (99, 8), (None, 8)])
def test_threads_have_the_peak_of_so_many_cores(threads, cores):
    """64 FLOPs a cycle at 3.5 GHz each; the name says how many of 8 they are."""
    device = cpu_device(linux_cpu(XEON.get, range(16), "x86_64"), threads)
    assert device.peak("float32") == cores * 64 * 3.5e9
    assert ("8 cores" if cores == 8 else f"{cores} of 8 cores") in device.name


def test_threads_run_on_the_fastest_cores_and_have_all_the_bandwidth():
    """One thread has the performance core of a hybrid, and the unified memory of an Apple chip."""
    hybrid = linux_cpu(HYBRID.get, range(8), "x86_64")
    fastest = max(rate.per_second("float32") for group in hybrid.groups if (rate := group_rates(hybrid, group)))
    assert cpu_device(hybrid, 1).peak("float32") == fastest < cpu_device(hybrid, 2).peak("float32")
    apple = macos_cpu(parse_sysctl(M2_MAX))
    assert cpu_device(apple, 1).memory_bandwidth == cpu_device(apple).memory_bandwidth


def test_a_quota_below_the_threads_is_what_counts():
    info = replace(linux_cpu(XEON.get, range(16), "x86_64"), quota_cpus=1.5)
    assert cpu_device(info, 4).peak("float32") == 1.5 * 64 * 3.5e9
    assert cpu_device(info, 1).peak("float32") == 64 * 3.5e9

"""Reading a machine: from files of other machines, and this one."""

from __future__ import annotations

import pytest

from neural_cost.analyzer.cpu import cpu_device
from neural_cost.analyzer.cpu_info import CoreGroup
from neural_cost.runtime import detect
from neural_cost.runtime.linux_cpu import cpu_quota, linux_cpu, parse_cpuinfo, parse_list
from neural_cost.runtime.macos_cpu import macos_cpu, parse_sysctl
from tests.runtime.machines import CPU, HYBRID, INTEL_MAC, M2_MAX, N1, XEON, ZEN3


def test_xeon_counts_cores_not_threads():
    info = linux_cpu(XEON.get, range(16), "x86_64")
    assert (info.vendor, info.family, info.model) == ("GenuineIntel", 6, 0x6A)
    assert (info.cores, info.threads) == (8, 16)
    assert info.groups == (CoreGroup(cores=8, max_mhz=3500.0, mhz=2900.0),)  # nominal 2.90 GHz above the 2899.998 read
    assert {"avx512f", "avx512_vnni"} <= info.flags
    assert info.caches == {"L1d": 48 * 1024, "L1i": 32 * 1024, "L2": 1280 * 1024, "L3": 54 * 1024 * 1024}
    assert info.memory_bytes == 32_000_000 * 1024


def test_affinity_limits_cores():
    assert linux_cpu(XEON.get, {0, 8}, "x86_64").cores == 1  # both threads of core 0
    assert linux_cpu(XEON.get, {0, 1, 9}, "x86_64").cores == 2


def test_virtual_zen3_has_no_highest_clock():
    info = linux_cpu(ZEN3.get, {0, 1}, "x86_64")
    assert (info.name, info.family, info.model, info.cores) == ("AMD EPYC", 0x19, 1, 2)
    assert info.groups == (CoreGroup(cores=2, mhz=2445.424),)
    assert info.memory_bytes is None


def test_arm_is_read_by_part():
    info = linux_cpu(N1.get, range(4), "aarch64")
    assert (info.name, info.vendor) == ("Arm 0xd0c", "0x41")
    assert info.groups == (CoreGroup(cores=4, max_mhz=2500.0, part=0xD0C),)
    assert "asimdhp" in info.flags


def test_hybrid_cores_come_in_two_groups():
    info = linux_cpu(HYBRID.get, range(8), "x86_64")
    performance, efficiency = info.groups
    assert (performance.role, performance.cores, performance.max_mhz) == ("performance", 2, 4400.0)
    assert (efficiency.role, efficiency.cores, efficiency.max_mhz) == ("efficiency", 4, 3300.0)


def test_acpi_cpufreq_leaves_the_turbo_out():
    files = {
        **ZEN3,
        f"{CPU}/cpu0/cpufreq/cpuinfo_max_freq": "2450000\n",
        f"{CPU}/cpu0/cpufreq/scaling_driver": "acpi-cpufreq\n",
    }
    assert linux_cpu(files.get, {0}, "x86_64").groups[0].max_mhz is None


def test_nothing_readable_is_a_machine_without_figures():
    info = linux_cpu({}.get, {0, 1}, "riscv64")
    assert (info.name, info.cores, info.threads) == ("riscv64", 2, 2)
    assert info.groups[0].clock is None


def test_lines_outside_a_block_belong_to_all():
    processors = parse_cpuinfo("processor : 0\n\nprocessor : 1\n\nModel : board\n")
    assert processors == {0: {"processor": "0", "Model": "board"}, 1: {"processor": "1", "Model": "board"}}


def test_list_of_processors():
    assert parse_list("0-2,8\n") == [0, 1, 2, 8]
    assert parse_list("") == []


@pytest.mark.parametrize(
    ("files", "cpus"),
    [
        ({"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "250000 100000\n"}, 2.5),
        ({"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        (
            {  # the tightest limit on the way up holds
                "/proc/self/cgroup": "0::/a/b\n",
                "/sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
                "/sys/fs/cgroup/a/cpu.max": "150000 100000\n",
            },
            1.5,
        ),
        (
            {
                "/proc/self/cgroup": "3:cpu,cpuacct:/box\n1:name=systemd:/\n",
                "/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us": "50000\n",
                "/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000\n",
            },
            0.5,
        ),
        (
            {
                "/proc/self/cgroup": "1:cpu:/\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
        ({}, None),
    ],
)
def test_cgroup_quota(files, cpus):
    assert cpu_quota(files.get) == cpus


JUNK = [
    "", "\n", "0\n", "-1\n", "abc\n", "1-\n", "-\n", "5-3\n", "a:b\n", "0:\n", "max max\n", "100000 0\n", "x y\n",
    "0 100000\n", "K\n", "12Q\n", "0-99999999999\n", "1e9\n", "NaN\n", "\x00\xff\n", ":::\n", "0::/../..\n",
]  # fmt: skip
QUOTAS = {
    "/proc/self/cgroup": "0::/a\n1:cpu:/b\n",
    "/sys/fs/cgroup/a/cpu.max": "200000 100000\n",
    "/sys/fs/cgroup/cpu/b/cpu.cfs_quota_us": "300000\n",
    "/sys/fs/cgroup/cpu/b/cpu.cfs_period_us": "100000\n",
}


@pytest.mark.parametrize("machine", [XEON, ZEN3, N1, HYBRID], ids=["xeon", "zen3", "n1", "hybrid"])
def test_a_file_that_says_nothing_is_passed_over(machine):
    files = {**machine, **QUOTAS}
    assert cpu_quota(files.get) == 2.0
    for file in files:
        for junk in JUNK:
            info = linux_cpu({**files, file: junk}.get, range(4), "x86_64")
            assert 1 <= info.cores <= 4, (file, junk)
            assert cpu_device(info).name


def test_apple_chip():
    info = macos_cpu(parse_sysctl(M2_MAX))
    assert (info.name, info.vendor, info.cores, info.threads) == ("Apple M2 Max", "0x61", 12, 12)
    assert [(group.role, group.cores) for group in info.groups] == [("performance", 8), ("efficiency", 4)]
    assert info.flags == {"asimd", "asimdhp", "asimddp", "bf16", "i8mm"}
    assert info.memory_bytes == 32 * 2**30
    assert info.caches == {"L1d": 65536, "L2": 4194304}


def test_intel_mac_tells_only_the_nominal_clock():
    info = macos_cpu(parse_sysctl(INTEL_MAC))
    assert (info.vendor, info.family, info.model, info.cores) == ("GenuineIntel", 6, 158, 6)
    assert info.groups == (CoreGroup(cores=6, mhz=2200.0),)
    assert {"sse2", "fma", "avx", "avx2"} <= info.flags


def test_this_machine_is_read():
    info = detect.detect_cpu()
    assert info.name
    assert 1 <= info.cores <= info.threads


def test_local_device_is_a_datasheet_cpu():
    device = detect.local_device()
    assert (device.kind, device.type) == ("datasheet", "cpu")
    assert device.peaks or any("peaks unknown" in note for note in device.notes)


def test_a_platform_without_files_still_has_threads(monkeypatch):
    monkeypatch.setattr(detect.sys, "platform", "win32")
    monkeypatch.setattr(detect.os, "cpu_count", lambda: 6)
    assert detect.detect_cpu().cores == 6


def test_macos_without_sysctl_falls_back(monkeypatch):
    monkeypatch.setattr(detect.sys, "platform", "darwin")
    monkeypatch.setattr("neural_cost.runtime.macos_cpu.read_sysctl", dict)
    assert detect.detect_cpu().groups[0].clock is None

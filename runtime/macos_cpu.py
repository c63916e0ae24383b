"""macOS: what sysctl says of the CPU."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from neural_cost.analyzer.cpu_info import CoreGroup, CpuInfo

# Highest clock of the performance cores, GHz, which macOS does not tell: source in the Apple rows of cpu_uarch.csv.
APPLE_GHZ = {"M1": 3.228, "M2": 3.696, "M3": 4.056, "M4": 4.512, "M5": 4.608}

# sysctl's names of instruction sets, and Linux's.
ARM_FLAGS = {
    "hw.optional.arm.FEAT_FP16": "asimdhp",
    "hw.optional.arm.FEAT_BF16": "bf16",
    "hw.optional.arm.FEAT_DotProd": "asimddp",
    "hw.optional.arm.FEAT_I8MM": "i8mm",
}
ROLES = ("performance", "efficiency")
CACHES = {"hw.l1dcachesize": "L1d", "hw.l1icachesize": "L1i", "hw.l2cachesize": "L2", "hw.l3cachesize": "L3"}


def read_sysctl() -> dict[str, str]:
    """Ask sysctl for the machine and the hardware; nothing where it does not answer."""
    command = ["/usr/sbin/sysctl", "machdep.cpu", "hw"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return parse_sysctl(done.stdout)


def parse_sysctl(text: str) -> dict[str, str]:
    """Split lines of "name: value"."""
    split = (line.partition(": ") for line in text.splitlines())
    return {key: value.strip() for key, colon, value in split if colon}


def macos_cpu(values: Mapping[str, str]) -> CpuInfo:
    """Describe the CPU from sysctl's values: Apple's own, or an Intel."""
    name = values.get("machdep.cpu.brand_string", "unknown CPU")
    apple = name.startswith("Apple")
    return CpuInfo(
        name=name,
        vendor="0x61" if apple else values.get("machdep.cpu.vendor", ""),
        machine="arm64" if apple else "x86_64",
        family=_int(values.get("machdep.cpu.family")),
        model=_int(values.get("machdep.cpu.model")),
        flags=_arm_flags(values) if apple else _x86_flags(values),
        groups=_apple_groups(values, name) if apple else _intel_groups(values),
        threads=_int(values.get("hw.logicalcpu")) or 1,
        caches={short: size for key, short in CACHES.items() if (size := _int(values.get(key)))},
        memory_bytes=_int(values.get("hw.memsize")),
    )


def _apple_groups(values: Mapping[str, str], name: str) -> tuple[CoreGroup, ...]:
    """Performance and efficiency cores, both at the clock of the former, which is a ceiling for the latter."""
    mhz = _apple_mhz(name)
    counts = [_int(values.get(f"hw.perflevel{level}.physicalcpu")) for level in range(len(ROLES))]
    groups = [
        CoreGroup(cores=count, max_mhz=mhz, role=role) for count, role in zip(counts, ROLES, strict=True) if count
    ]
    return tuple(groups) or (CoreGroup(cores=_int(values.get("hw.physicalcpu")) or 1, max_mhz=mhz),)


def _apple_mhz(name: str) -> float | None:
    """Highest clock of an Apple chip's performance cores, by its name ("Apple M2 Max"); None when unknown."""
    words = name.split()
    ghz = APPLE_GHZ.get(words[1]) if len(words) > 1 else None
    return ghz * 1e3 if ghz else None


def _intel_groups(values: Mapping[str, str]) -> tuple[CoreGroup, ...]:
    highest, nominal = _int(values.get("hw.cpufrequency_max")), _int(values.get("hw.cpufrequency"))
    clock = max(highest or 0, nominal or 0) / 1e6 or None  # macOS reports the nominal clock in both: no turbo
    return (CoreGroup(cores=_int(values.get("hw.physicalcpu")) or 1, mhz=clock),)


def _arm_flags(values: Mapping[str, str]) -> frozenset[str]:
    return frozenset({"asimd", *(flag for key, flag in ARM_FLAGS.items() if values.get(key) == "1")})


def _x86_flags(values: Mapping[str, str]) -> frozenset[str]:
    """Linux's names of what sysctl lists: "AVX1.0" is avx, "AVX2" is avx2, "AVX512F" is avx512f."""
    listed = f"{values.get('machdep.cpu.features', '')} {values.get('machdep.cpu.leaf7_features', '')}".lower().split()
    return frozenset({"avx1.0": "avx"}.get(flag, flag) for flag in listed)


def _int(text: str | None) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        return None

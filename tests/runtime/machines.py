"""Machines for tests: what /proc, /sys and sysctl say on them, shortened by hand to what is read."""

from __future__ import annotations

CPU = "/sys/devices/system/cpu"


def x86(
    count: int, *, vendor: str, family: int, model: int, name: str, mhz: float, flags: str, threads: int = 1
) -> str:
    """/proc/cpuinfo of an x86; hyperthreads are numbered after all cores, as Linux does."""
    cores = count // threads
    return "\n\n".join(
        f"processor\t: {number}\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n"
        f"model name\t: {name}\ncpu MHz\t\t: {mhz}\nphysical id\t: 0\ncore id\t\t: {number % cores}\nflags\t\t: {flags}"
        for number in range(count)
    )


def arm(parts: list[str], features: str, implementer: str = "0x41") -> str:
    """/proc/cpuinfo of an Arm; some kernels end with lines about the board."""
    blocks = [
        f"processor\t: {number}\nBogoMIPS\t: 50.00\nFeatures\t: {features}\nCPU implementer\t: {implementer}\n"
        f"CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: {part}\nCPU revision\t: 1"
        for number, part in enumerate(parts)
    ]
    return "\n\n".join(blocks)


def cache(index: int, level: int, kind: str, size: str) -> dict[str, str]:
    """/sys files of one cache of the first processor."""
    folder = f"{CPU}/cpu0/cache/index{index}"
    return {f"{folder}/level": f"{level}\n", f"{folder}/type": f"{kind}\n", f"{folder}/size": f"{size}\n"}


AVX2 = "fpu sse sse2 ssse3 sse4_1 sse4_2 fma avx f16c avx2"
AVX512 = f"{AVX2} avx512f avx512dq avx512bw avx512vl"

# Ice Lake Xeon (model 106 = 0x6a), 8 cores with 2 threads each, 3.5 GHz turbo.
XEON = {
    "/proc/cpuinfo": x86(
        16, vendor="GenuineIntel", family=6, model=106, name="Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz",
        mhz=2899.998, flags=f"{AVX512} avx512_vnni", threads=2,
    ),
    **{f"{CPU}/cpu{n}/cpufreq/cpuinfo_max_freq": "3500000\n" for n in range(16)},
    **cache(0, 1, "Data", "48K"),
    **cache(1, 1, "Instruction", "32K"),
    **cache(2, 2, "Unified", "1280K"),
    **cache(3, 3, "Unified", "54M"),
    "/proc/meminfo": "MemTotal:       32000000 kB\nMemFree:        100 kB\n",
}  # fmt: skip

# A virtual Zen 3 (family 25, model 1): two cores, no cpufreq.
ZEN3 = {"/proc/cpuinfo": x86(2, vendor="AuthenticAMD", family=25, model=1, name="AMD EPYC", mhz=2445.424, flags=AVX2)}

# Neoverse N1 (part 0xd0c), four cores; Arm tells no clock but the driver does.
N1 = {
    "/proc/cpuinfo": arm(["0xd0c"] * 4, "fp asimd evtstrm aes fphp asimdhp asimddp")
    + "\n\nHardware\t: example board\n",
    **{f"{CPU}/cpu{n}/cpufreq/cpuinfo_max_freq": "2500000\n" for n in range(4)},
}

# Alder Lake (model 154 = 0x9a): 2 performance cores with 2 threads each (0-3), 4 efficiency cores (4-7).
HYBRID = {
    "/proc/cpuinfo": x86(
        8, vendor="GenuineIntel", family=6, model=154, name="12th Gen Intel(R) Core(TM) i5-1235U", mhz=1300.0,
        flags=f"{AVX2} avx_vnni",
    ),
    "/sys/devices/cpu_core/cpus": "0-3\n",
    "/sys/devices/cpu_atom/cpus": "4-7\n",
    **{f"{CPU}/cpu{n}/topology/core_cpus_list": f"{n - n % 2}-{n - n % 2 + 1}\n" for n in range(4)},
    **{f"{CPU}/cpu{n}/topology/core_cpus_list": f"{n}\n" for n in range(4, 8)},
    **{f"{CPU}/cpu{n}/cpufreq/cpuinfo_max_freq": "4400000\n" for n in range(4)},
    **{f"{CPU}/cpu{n}/cpufreq/cpuinfo_max_freq": "3300000\n" for n in range(4, 8)},
}  # fmt: skip

M2_MAX = """machdep.cpu.brand_string: Apple M2 Max
hw.physicalcpu: 12
hw.logicalcpu: 12
hw.perflevel0.physicalcpu: 8
hw.perflevel1.physicalcpu: 4
hw.l1dcachesize: 65536
hw.l2cachesize: 4194304
hw.memsize: 34359738368
hw.optional.arm.FEAT_FP16: 1
hw.optional.arm.FEAT_DotProd: 1
hw.optional.arm.FEAT_BF16: 1
hw.optional.arm.FEAT_I8MM: 1
"""

INTEL_MAC = """machdep.cpu.brand_string: Intel(R) Core(TM) i7-8750H CPU @ 2.20GHz
machdep.cpu.vendor: GenuineIntel
machdep.cpu.family: 6
machdep.cpu.model: 158
machdep.cpu.features: FPU SSE SSE2 FMA AVX1.0
machdep.cpu.leaf7_features: AVX2 BMI2
hw.physicalcpu: 6
hw.logicalcpu: 12
hw.cpufrequency: 2200000000
hw.cpufrequency_max: 2200000000
"""

"""Linux: what /proc and /sys say of the CPU.

Everything is read through `read(path) -> text or None`, so a test can hand in the files of any machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from pathlib import PurePosixPath

from neural_cost.analyzer.cpu_info import CoreGroup, CpuInfo

Read = Callable[[str], str | None]
Processor = dict[str, str]

CPUS = "/sys/devices/system/cpu"
CGROUPS = "/sys/fs/cgroup"
PROCESSORS = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*", re.ASCII)
MOST_PROCESSORS = 2**16
SIZE_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
ARM_NAMES = {
    0x41: "Arm", 0x43: "Cavium", 0x46: "Fujitsu", 0x48: "HiSilicon", 0x4E: "NVIDIA", 0x51: "Qualcomm", 0x61: "Apple",
    0xC0: "Ampere",
}  # fmt: skip


def linux_cpu(read: Read, usable: Collection[int], machine: str) -> CpuInfo:
    """Describe the CPU that the process may use.

    Args:
        read: text of a file, or None.
        usable: numbers of the processors in the process's affinity mask.
        machine: as `platform.machine()` has it.
    """
    processors = parse_cpuinfo(read("/proc/cpuinfo") or "")
    first = next((processors[number] for number in sorted(usable) if number in processors), {})
    return CpuInfo(
        name=_name(first, machine),
        vendor=first.get("vendor_id", first.get("CPU implementer", "")),
        machine=machine,
        family=_int(first.get("cpu family")),
        model=_int(first.get("model")),
        flags=frozenset((first.get("flags") or first.get("Features") or "").split()),
        groups=_groups(read, processors, sorted(usable)),
        threads=len(usable),
        quota_cpus=cpu_quota(read),
        caches=_caches(read, min(usable, default=0)),
        memory_bytes=_memory(read("/proc/meminfo") or ""),
    )


def parse_cpuinfo(text: str) -> dict[int, Processor]:
    """Split /proc/cpuinfo into its processors, by number. Lines that stand outside a block belong to all."""
    blocks = [_fields(block) for block in text.split("\n\n")]
    common = {key: value for block in blocks if "processor" not in block for key, value in block.items()}
    numbered = ((_int(block.get("processor")), block) for block in blocks)
    return {number: {**common, **block} for number, block in numbered if number is not None}


def parse_list(text: str) -> list[int]:
    """Read a list of processors: "0-3,8" is 0, 1, 2, 3 and 8. What is no such list has none."""
    if not PROCESSORS.fullmatch(text.strip()):
        return []
    spans = (part.partition("-") for part in text.strip().split(","))
    ends = ((int(first), int(last or first)) for first, _, last in spans)
    return [number for first, last in ends for number in range(first, min(last, MOST_PROCESSORS) + 1)]


def cpu_quota(read: Read) -> float | None:
    """CPUs' worth of time that the process's cgroups allow, the tightest; None without a limit (cgroup v1 and v2)."""
    limits = []
    for line in (read("/proc/self/cgroup") or "").splitlines():
        if line.count(":") < 2:
            continue
        hierarchy, controllers, path = line.split(":", 2)
        names = controllers.split(",")
        if hierarchy == "0" and not controllers:
            limits += [_quota_v2(read(f"{root}/cpu.max")) for root in _upward(CGROUPS, path)]
        elif "cpu" in names:
            mounts = {controllers, "cpu", "cpu,cpuacct"}
            limits += [_quota_v1(read, root) for mount in mounts for root in _upward(f"{CGROUPS}/{mount}", path)]
    return min((limit for limit in limits if limit is not None), default=None)


def _upward(mount: str, path: str) -> list[str]:
    """A cgroup's folder and those above it, up to the mount: a limit on any of them holds."""
    below = PurePosixPath(path.lstrip("/"))
    return [f"{mount}/{folder}" if str(folder) != "." else mount for folder in (below, *below.parents)]


def _quota_v2(text: str | None) -> float | None:
    words = [_int(word) for word in (text or "").split()]
    return _share(*words) if len(words) == 2 else None


def _quota_v1(read: Read, root: str) -> float | None:
    return _share(_int(read(f"{root}/cpu.cfs_quota_us")), _int(read(f"{root}/cpu.cfs_period_us")))


def _share(quota: int | None, period: int | None) -> float | None:
    """CPUs' worth of time; None where there is no limit ("max", -1), or no figure."""
    return quota / period if quota and period and quota > 0 and period > 0 else None


def _groups(read: Read, processors: dict[int, Processor], usable: list[int]) -> tuple[CoreGroup, ...]:
    """Physical cores by kind: by Arm part, or by the performance and efficiency lists of a hybrid x86."""
    roles = {number: role for role, path in _ROLES for number in parse_list(read(path) or "")}
    kinds: dict[tuple[int | None, str], dict[frozenset[int] | tuple[str, ...], list[int]]] = {}
    for number in usable:
        processor = processors.get(number, {})
        kind = (_int(processor.get("CPU part")), roles.get(number, ""))
        kinds.setdefault(kind, {}).setdefault(_core(read, processor, number), []).append(number)
    return tuple(_group(read, processors, part, role, list(cores.values())) for (part, role), cores in kinds.items())


_ROLES = (("performance", "/sys/devices/cpu_core/cpus"), ("efficiency", "/sys/devices/cpu_atom/cpus"))


def _core(read: Read, processor: Processor, number: int) -> frozenset[int] | tuple[str, ...]:
    """What threads of one physical core have in common and others have not."""
    for name in ("core_cpus_list", "thread_siblings_list"):
        if siblings := parse_list(read(f"{CPUS}/cpu{number}/topology/{name}") or ""):
            return frozenset(siblings)
    if "core id" in processor:
        return (processor.get("physical id", "0"), processor["core id"])
    return frozenset({number})


def _group(
    read: Read, processors: dict[int, Processor], part: int | None, role: str, cores: list[list[int]]
) -> CoreGroup:
    numbers = [number for core in cores for number in core]
    return CoreGroup(
        cores=len(cores),
        max_mhz=max((mhz for number in numbers if (mhz := _max_mhz(read, number))), default=None),
        mhz=max((mhz for number in numbers if (mhz := _mhz(processors.get(number, {})))), default=None),
        part=part,
        role=role,
    )


def _max_mhz(read: Read, number: int) -> float | None:
    """Highest clock of a processor in MHz; None where the driver (acpi-cpufreq) leaves the turbo out of it."""
    folder = f"{CPUS}/cpu{number}/cpufreq"
    khz = _int(read(f"{folder}/cpuinfo_max_freq"))
    turbo_left_out = (read(f"{folder}/scaling_driver") or "").strip() == "acpi-cpufreq"
    return khz / 1e3 if khz and not turbo_left_out else None


def _mhz(processor: Processor) -> float | None:
    """Clock now, or the nominal one in the model name, whichever is higher."""
    nominal = processor.get("model name", "").rpartition("@ ")[2].removesuffix("GHz")
    clocks = [_float(processor.get("cpu MHz")), (_float(nominal) or 0.0) * 1e3]
    return max((mhz for mhz in clocks if mhz), default=None)


def _name(processor: Processor, machine: str) -> str:
    """The model name; of an Arm that has none, its implementer and part."""
    named = processor.get("model name") or processor.get("Model")
    if named:
        return " ".join(named.split())
    implementer, part = _int(processor.get("CPU implementer")), processor.get("CPU part", "")
    return f"{ARM_NAMES.get(implementer or 0, machine)} {part}".strip() or "unknown CPU"


def _caches(read: Read, number: int) -> dict[str, int]:
    """Bytes of each cache that a processor sees: "L1d", "L1i", "L2", "L3"."""
    found: dict[str, int] = {}
    for index in range(8):
        folder = f"{CPUS}/cpu{number}/cache/index{index}"
        level, size = (read(f"{folder}/level") or "").strip(), (read(f"{folder}/size") or "").strip()
        if level and size:
            suffix = {"Data": "d", "Instruction": "i"}.get((read(f"{folder}/type") or "").strip(), "")
            if (bytes_ := _size(size)) is not None:
                found[f"L{level}{suffix}"] = bytes_
    return found


def _size(text: str) -> int | None:
    number = _int(text[:-1] if text[-1] in SIZE_UNITS else text)
    return None if number is None else number * SIZE_UNITS.get(text[-1], 1)


def _memory(meminfo: str) -> int | None:
    kib = _int(_fields(meminfo).get("MemTotal", "").removesuffix("kB").strip())
    return kib * 2**10 if kib else None


def _fields(text: str) -> dict[str, str]:
    """Lines of "key : value"."""
    split: Iterable[tuple[str, str, str]] = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, colon, value in split if colon}


def _int(text: str | None) -> int | None:
    try:
        return int(text, 0) if text else None
    except ValueError:
        return None


def _float(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None

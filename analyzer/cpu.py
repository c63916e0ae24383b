"""A CPU as a device: peak = cores x FLOPs per cycle x clock, from what the machine says of itself.

The FLOPs per cycle come from `data/cpu_uarch.csv`, by microarchitecture and instruction set. DRAM bandwidth stands in
no such table and is unknown until it is measured, but for Apple's chips, whose vendor states it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from neural_cost.analyzer.cpu_info import CpuInfo
from neural_cost.analyzer.cpu_rates import GroupRates, group_rates
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.device_table import find_device
from neural_cost.analyzer.errors import DeviceError


def cpu_device(info: CpuInfo, threads: int | None = None) -> Device:
    """Turn what a machine says of its CPU into a device of kind "datasheet".

    Peaks count the cores that the process may use, of which `threads` keep so many busy, the fastest first; at the
    highest clock that the machine tells or that any chip of its kind has. Nothing is invented: a core of unknown rate
    or clock leaves the peaks out, notes say what is missing, and the caveat what can exceed them.
    """
    rates = [group_rates(info, group) for group in info.groups]
    known = [rate for rate in rates if rate is not None]
    used = info.cores if threads is None else min(info.cores, max(1, threads))
    peaks = _peaks(info, known, used) if known and len(known) == len(rates) else {}
    bandwidth = _apple_bandwidth(info)
    return Device(
        name=_name(info, known, used),
        kind="datasheet",
        vendor=info.vendor,
        type="cpu",
        peaks=peaks,
        bandwidth_curve=((0, bandwidth),) if bandwidth else (),
        memory_bytes=info.memory_bytes,
        source="; ".join(dict.fromkeys(rate.source for rate in known)),
        confidence=_confidence(info, known),
        notes=tuple(_notes(info, known, peaks, bandwidth)),
        caveat="; ".join(_caveats(info, known)) if peaks else "",
    )


def _peaks(info: CpuInfo, rates: list[GroupRates], cores: int) -> dict[str, float]:
    """FLOP/s by type: the sum over groups, the fastest first, up to so many cores and the time that a cgroup allows."""
    left = float(cores) if info.quota_cpus is None else min(cores, info.quota_cpus)
    peaks: dict[str, float] = {}
    for rate in sorted(rates, key=lambda rate: rate.per_second("float32"), reverse=True):
        used = min(left, rate.cores)
        left -= used
        for kind in rate.per_cycle:
            peaks[kind] = peaks.get(kind, 0.0) + used * rate.per_second(kind) + rate.shared_per_second(kind)
    return peaks


def _name(info: CpuInfo, rates: list[GroupRates], used: int) -> str:
    uarch = " + ".join(dict.fromkeys(rate.uarch for rate in rates))
    cores = f"{f'{used} of ' if used < info.cores else ''}{info.cores} core{'' if info.cores == 1 else 's'}"
    return f"{info.name} ({f'{uarch}, ' if uarch else ''}{cores})"


def _confidence(info: CpuInfo, rates: list[GroupRates]) -> str:
    """That of the least certain rate; low where the machine does not tell its highest clock."""
    if not rates or any(rate.clock.origin != "told" for rate in rates):
        return "low"
    return min((rate.confidence for rate in rates), key=("low", "medium", "high").index)


def _is_limited(info: CpuInfo) -> bool:
    """Whether a cgroup allows less than the cores that there are."""
    return info.quota_cpus is not None and info.quota_cpus < info.cores


def _caveats(info: CpuInfo, rates: list[GroupRates]) -> Iterable[str]:
    """How a run can be faster than the peaks."""
    if any(rate.clock.origin == "reported" for rate in rates):
        yield "at the clock the machine reports, and a turbo can beat it"
    if _is_limited(info):
        yield "sustained under a cgroup's quota, and a short run can beat it"


def _notes(
    info: CpuInfo, rates: list[GroupRates], peaks: Mapping[str, float], bandwidth: float | None
) -> Iterable[str]:
    """What a reader of a bound on this device must know."""
    yield from dict.fromkeys(note for rate in rates for note in rate.notes)
    if not peaks:
        yield "peaks unknown: the table has no FLOPs per cycle for this CPU, or its clock is not known"
    if _is_limited(info):
        yield (
            f"a cgroup allows {info.quota_cpus:g} of {info.cores} cores: peaks are those of a sustained run, and a"
            " run shorter than the quota's period can exceed them"
        )
    if bandwidth is None:
        yield "DRAM bandwidth unknown: no table states it and it has not been measured, so no bound counts bytes"


def _apple_bandwidth(info: CpuInfo) -> float | None:
    """Bytes/s of an Apple chip's memory, which its CPU and GPU share; None for other CPUs."""
    if not info.name.startswith("Apple M"):
        return None
    try:
        return find_device(info.name).memory_bandwidth
    except DeviceError:
        return None

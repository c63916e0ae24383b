"""What a machine says of its CPU, as data: filled in by `runtime.detect`, read by `cpu`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreGroup:
    """Cores of one kind.

    Attributes:
        cores: physical cores that this process may use.
        max_mhz: highest clock, turbo included; None when the machine does not tell.
        mhz: clock as read now, or nominal; a turbo may exceed it.
        part: "CPU part" of an Arm core; None on others.
        role: "performance" or "efficiency" where a machine has both; else "".
    """

    cores: int
    max_mhz: float | None = None
    mhz: float | None = None
    part: int | None = None
    role: str = ""

    @property
    def clock(self) -> float | None:
        """Cycles/s: the highest known; None when none is."""
        known = [mhz for mhz in (self.max_mhz, self.mhz) if mhz]
        return max(known) * 1e6 if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuInfo:
    """What a machine says of its CPU.

    Attributes:
        name: the model name.
        vendor: vendor id of an x86 ("GenuineIntel"), implementer of an Arm ("0x41").
        machine: "x86_64", "aarch64", "arm64"...
        family: of an x86; None on others.
        model: of an x86; None on others.
        flags: instruction sets, as /proc/cpuinfo names them.
        groups: kinds of cores that this process may use.
        threads: hardware threads that this process may use.
        quota_cpus: CPU time per second of time that a cgroup allows; None without a limit.
        caches: bytes of one cache by its name: {"L1d": 32768, "L2": ..., "L3": ...}.
        memory_bytes: of the machine.
    """

    name: str
    vendor: str
    machine: str
    family: int | None = None
    model: int | None = None
    flags: frozenset[str] = frozenset()
    groups: tuple[CoreGroup, ...] = ()
    threads: int = 1
    quota_cpus: float | None = None
    caches: Mapping[str, int] = field(default_factory=dict)
    memory_bytes: int | None = None

    @property
    def cores(self) -> int:
        """Physical cores that this process may use."""
        return sum(group.cores for group in self.groups)

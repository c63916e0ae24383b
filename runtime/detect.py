"""What this machine is: its CPU, which of it this process may use, and its GPUs."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from neural_cost.analyzer.cpu import cpu_device
from neural_cost.analyzer.cpu_info import CoreGroup, CpuInfo
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.device_table import find_device
from neural_cost.analyzer.errors import DeviceError
from neural_cost.analyzer.record import Record
from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import size
from neural_cost.runtime.gpus import Gpu, detect_gpus

EXTENSIONS = (
    "sse4_2", "avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16",
    "amx_tile", "amx_int8", "amx_bf16", "amx_fp16", "asimd", "asimdhp", "asimddp", "sve", "sve2", "i8mm", "bf16", "sme",
)  # fmt: skip


def local_device(threads: int | None = None) -> Device:
    """This machine's CPU as a device of kind "datasheet": from its model, instruction sets, cores and clock.

    With `threads` it is so many of its cores: their peaks, and the bandwidth of all.
    """
    return cpu_device(detect_cpu(), threads)


def detect_cpu() -> CpuInfo:
    """Read what this machine says of its CPU. What it does not say is None; this never fails and starts no load."""
    if sys.platform == "linux":
        from neural_cost.runtime.linux_cpu import linux_cpu

        return linux_cpu(_read, os.sched_getaffinity(0), platform.machine())
    if sys.platform == "darwin":
        from neural_cost.runtime.macos_cpu import macos_cpu, read_sysctl

        if values := read_sysctl():
            return macos_cpu(values)
    return _other_cpu()


def _read(path: str) -> str | None:
    """Text of a file of the kernel; None where it is absent or not readable."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _other_cpu() -> CpuInfo:
    """A CPU of which only the name and the number of threads are known."""
    threads = os.cpu_count() or 1
    name = platform.processor() or platform.machine() or "unknown CPU"
    return CpuInfo(
        name=name, vendor="", machine=platform.machine(), groups=(CoreGroup(cores=threads),), threads=threads
    )


@dataclass(frozen=True, slots=True)
class Detection(Record):
    """What this machine is.

    Attributes:
        cpu: what it says of its CPU.
        gpus: what drivers tell of.
        devices: the CPU by its datasheet, then each GPU that the table knows.
        notes: what was not found in the table.
        measured: the GPU as it was calibrated, or the CPU, or the CPU measured for `detect_hardware`; else None.
    """

    cpu: CpuInfo
    gpus: list[Gpu]
    devices: list[Device]
    notes: list[str]
    measured: Device | None = None

    @property
    def device(self) -> Device:
        """What bounds are made for: the first GPU if it was measured or the table knows it, else the CPU."""
        if self.measured is not None and (self.measured.type == "gpu" or len(self.devices) == 1):
            return self.measured
        return self.devices[min(1, len(self.devices) - 1)]

    @property
    def source(self) -> str:
        """Where the figures of that device come from."""
        return self.device.source

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        cpu = asdict(self.cpu) | {"flags": sorted(self.cpu.flags), "cores": self.cpu.cores}
        return {"cpu": cpu, "gpus": [gpu.to_dict() for gpu in self.gpus], "notes": self.notes}

    def page(self) -> list[Block]:
        """Lines of a table: what may be used of the CPU, its caches and vector units, and each GPU."""
        cpu = self.cpu
        quota = "" if cpu.quota_cpus is None else f"; a cgroup gives the time of {cpu.quota_cpus:g}"
        caches = ", ".join(f"{name} {size(held)}" for name, held in cpu.caches.items())
        lines = [
            ("CPU", cpu.name, f"{cpu.machine}, {cpu.cores} cores, {cpu.threads} threads for this process{quota}"),
            *([("Caches", caches, "")] * bool(caches)),
            *([("Vector units", ", ".join(self.extensions), "")] * bool(self.extensions)),
            ("Memory", size(cpu.memory_bytes), ""),
            *(("GPU", gpu.name, f"{size(gpu.memory_bytes)}, driver {gpu.driver}") for gpu in self.gpus),
        ]
        headings = [Heading("", "name"), Heading("", "name"), Heading("", "remark")]
        notes = [Paragraph(note, "warning") for note in self.notes]
        return [Grid("", headings, lines, headed=False), *notes]

    @property
    def extensions(self) -> list[str]:
        """Instruction sets for vectors and matrices."""
        return [flag for flag in EXTENSIONS if flag in self.cpu.flags]


def detect() -> Detection:
    """Read what this machine and its drivers say; nothing is measured, and nothing that is absent is an error."""
    cpu, gpus = detect_cpu(), detect_gpus()
    devices, notes = [cpu_device(cpu)], []
    for gpu in gpus:
        try:
            known = find_device(gpu.name)
        except DeviceError:
            notes.append(f"{gpu.name} is not in the table of devices: its peaks are unknown")
        else:
            devices.append(replace(known, memory_bytes=gpu.memory_bytes or known.memory_bytes))
    return Detection(cpu, gpus, devices, notes)


def detect_hardware(*, measure: bool = True) -> tuple[Device, Detection]:
    """The device that bounds are made for, and what was detected: the first GPU if there is one, else the CPU.

    Figures are those of a calibration (`neural-cost hardware --calibrate`). Without one a GPU has those of its
    datasheet, and a CPU's float32 peak and bandwidth are measured now, once in a process, as no table has its
    bandwidth: that takes some seconds.

    Args:
        measure: False leaves a CPU that was not calibrated as its datasheet has it, with `memory_bandwidth` None.
    """
    from neural_cost.runtime.calibrate.store import stored, stored_gpus

    found = detect()
    if found.gpus and (gpus := stored_gpus(found.gpus)):
        found = replace(found, measured=gpus[0].device())
    elif found.device.type == "cpu":
        from neural_cost.runtime.calibrate.quick import quick_device

        calibration = stored()
        known = calibration.device() if calibration is not None else quick_device() if measure else None
        found = replace(found, measured=known)
    return found.device, found

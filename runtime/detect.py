"""What this machine's CPU is, and which of it this process may use."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from neural_cost.analyzer.cpu import cpu_device
from neural_cost.analyzer.cpu_info import CoreGroup, CpuInfo
from neural_cost.analyzer.device import Device


def local_device() -> Device:
    """This machine's CPU as a device of kind "datasheet": from its model, instruction sets, cores and clock."""
    return cpu_device(detect_cpu())


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

"""Whether a model will fit into the memory that is free, before it is run."""

from __future__ import annotations

from pathlib import Path

from neural_cost.analyzer.report import Report
from neural_cost.analyzer.tables.figures import size
from neural_cost.runtime.gpus import detect_gpus
from neural_cost.runtime.providers import ON_GPUS, SHORT

MEMINFO = Path("/proc/meminfo")
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
USES = (Path("/sys/fs/cgroup/memory.current"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"))


def free_bytes() -> int | None:
    """Bytes that a program may still take: of the machine, or of its cgroup if that is less; None where unknown."""
    found = [each for each in (_of_machine(), _of_cgroup()) if each is not None]
    return min(found, default=None)


def foreseen(report: Report, provider: str = "cpu") -> str | None:
    """What to be warned of before a run: weights and activations need more than is free; None where they fit.

    The lower figure of activations is taken: what is warned of then cannot fit. Of a GPU it is the whole memory.
    """
    on_gpu = SHORT.get(provider, provider).lower() in ON_GPUS
    free, peak = gpu_bytes() if on_gpu else free_bytes(), report.memory.peak_lower_bytes
    if free is None or peak is None:
        return None
    needed = report.totals.parameter_bytes + peak
    if needed <= free:
        return None
    there = (
        f"the GPU has {size(free)}: the run may fail"
        if on_gpu
        else (f"{size(free)} are free: the run may be ended by the system")
    )
    return f"{report.model.path} needs {size(needed)} or more at these sizes, and {there}; a smaller --dim needs less"


def gpu_bytes() -> int | None:
    """The memory of the largest GPU; None where there is none, or it does not tell."""
    return max((gpu.memory_bytes for gpu in detect_gpus() if gpu.memory_bytes is not None), default=None)


def _of_machine() -> int | None:
    try:
        lines = MEMINFO.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    found = next((line.split() for line in lines if line.startswith("MemAvailable:")), None)
    return int(found[1]) * 1024 if found and len(found) > 1 and found[1].isdigit() else None


def _of_cgroup() -> int | None:
    for limit, used in zip(LIMITS, USES, strict=True):
        most, taken = _number(limit), _number(used)
        if most is not None and taken is not None:
            return max(0, most - taken)
    return None


def _number(file: Path) -> int | None:
    try:
        text = file.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None

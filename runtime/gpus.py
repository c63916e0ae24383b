"""GPUs that drivers tell of: NVIDIA's by its library or `nvidia-smi`, AMD's by `rocm-smi`.

A tool that is absent, hangs or says what no one expects tells of no GPU; it is no error.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

TIMEOUT_S = 10
NVIDIA_SMI = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits")
ROCM_SMI = ("rocm-smi", "--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json")

Ask: TypeAlias = Callable[[tuple[str, ...]], str | None]  # runs a program, and returns what it says


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU: what its driver calls it, how much memory it has, and which driver it is."""

    name: str
    vendor: str
    memory_bytes: int | None
    driver: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def detect_gpus() -> list[Gpu]:
    """Every GPU that a driver tells of."""
    found = _by_library()
    return [*(nvidia_gpus(ask(NVIDIA_SMI)) if found is None else found), *amd_gpus(ask(ROCM_SMI))]


def nvidia_gpus(text: str | None) -> list[Gpu]:
    """GPUs of what `nvidia-smi` says: name, MiB of memory and driver on a line for each."""
    rows = csv.reader((text or "").splitlines(), skipinitialspace=True)
    return [
        Gpu(name=row[0].strip(), vendor="NVIDIA", memory_bytes=_mebibytes(row[1]), driver=row[2].strip())
        for row in rows
        if len(row) == 3 and row[0].strip()
    ]


def amd_gpus(text: str | None) -> list[Gpu]:
    """GPUs of what `rocm-smi` says, in JSON: an object for each card, and one for the system."""
    try:
        cards = json.loads(text or "{}")
    except ValueError:
        return []
    if not isinstance(cards, dict):
        return []
    driver = str(cards.get("system", {}).get("Driver version", ""))
    found = []
    for _, card in sorted((key, card) for key, card in cards.items() if key.startswith("card")):
        told = {key.lower(): str(value) for key, value in card.items()} if isinstance(card, dict) else {}
        name = next((told[key] for key in ("card series", "card model", "device name") if told.get(key)), "")
        memory = told.get("vram total memory (b)", "")
        if name:
            size = int(memory) if memory.isdigit() else None
            found.append(Gpu(name=name, vendor="AMD", memory_bytes=size, driver=driver))
    return found


def ask(command: tuple[str, ...]) -> str | None:
    """What a program says; None where it is absent, fails or takes too long."""
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return done.stdout if done.returncode == 0 else None


def _by_library() -> list[Gpu] | None:
    """GPUs by nvidia-ml-py; None where it is not installed or finds no driver."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
        handles = [pynvml.nvmlDeviceGetHandleByIndex(place) for place in range(pynvml.nvmlDeviceGetCount())]
        return [
            Gpu(
                name=_text(pynvml.nvmlDeviceGetName(handle)),
                vendor="NVIDIA",
                memory_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
                driver=driver,
            )
            for handle in handles
        ]
    except pynvml.NVMLError:
        return None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _mebibytes(text: str) -> int | None:
    return int(text) << 20 if text.strip().isdigit() else None

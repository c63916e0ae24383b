"""All that this project does on an NVIDIA GPU, checked there in under 5 minutes: nobody had one when it was written.

`python -m benchmarks.gpu_check --output gpu_check.json` prints a line for each check, and what it saw. It needs this
package, and an ONNX Runtime with CUDA in place of the one for CPUs, with the libraries that it wants:

    pip uninstall -y onnxruntime && pip install 'onnxruntime-gpu[cuda,cudnn]'

Torch with CUDA (`pip install torch`) adds the comparison with native runs; without it that is skipped. Nothing is
fetched while it runs, so on a machine without a network the packages must be there, or lie beside it as wheels. Exit
codes: 0 all hold, 1 something does not, 4 there is no GPU.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import traceback
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from neural_cost.models import path

NO_GPU = 4
MODELS = {"cnn": {"batch": 16}, "transformer": {"batch": 16}}
MAPPED = 0.97  # of the time of kernels
TOLERANCE = 2e-2  # of the largest value: the GPU multiplies in TF32
PLAUSIBLE = (0.05, 1.6)  # of the datasheet's figure that a calibration reaches


@dataclass(frozen=True)
class Checked:
    """A check: whether it holds (None: it was skipped), and what was seen."""

    name: str
    holds: bool | None
    seen: str
    seconds: float = 0.0
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """A line."""
        verdict = {True: "holds", False: "FAILS", None: "skipped"}[self.holds]
        return f"{verdict:8}{self.name:24}{self.seconds:6.1f} s  {self.seen}"


Found = tuple[bool | None, str, Mapping[str, Any]]


def detected() -> Found:
    """The GPU, its driver, and whether the table knows it."""
    from neural_cost.runtime.detect import detect

    found = detect()
    names = [device.name for device in found.devices[1:]]
    seen = f"{found.gpus[0].name}, driver {found.gpus[0].driver}; table: {', '.join(names) or 'not in it'}"
    return bool(names), seen, {"gpus": [gpu.to_dict() for gpu in found.gpus], "devices": names}


def started() -> Found:
    """A session on CUDA, all of whose nodes are there."""
    from neural_cost.runtime.session import SessionOptions, open_session

    session = open_session(path("cnn"), SessionOptions(provider="cuda"))
    notes = session.notes()
    return not notes, "; ".join(notes) or f"{session.provider}, loaded in {session.seconds:.1f} s", {"notes": notes}


def calibrated() -> Found:
    """Peaks and bandwidth beside the datasheet; copies each way."""
    from neural_cost.analyzer.device_table import find_device
    from neural_cost.runtime.calibrate.calibrate import GPU_PLAN, calibrate
    from neural_cost.runtime.calibrate.place import gpu_places
    from neural_cost.runtime.calibrate.store import keep

    places, told = gpu_places()
    if not places:
        return False, "; ".join(told), {}
    found = calibrate(GPU_PLAN, place=places[0])
    keep(found)
    device, sheet = found.device(), find_device(str(found.machine["name"]))
    peaks = {kind: (rate, sheet.peaks.get(kind)) for kind, rate in device.peaks.items()}
    if "tf32" in sheet.peaks and "float32" in peaks:
        peaks["float32"] = device.peaks["float32"], sheet.peaks["tf32"]
    pairs = {**peaks, "bandwidth": (device.memory_bandwidth, sheet.memory_bandwidth)}
    shares = {name: mine / stated for name, (mine, stated) in pairs.items() if mine and stated}
    copies = {what: max(rate.per_s for rate in found.curve(what, 1)) / 1e9 for what in found.copies}
    seen = ", ".join(f"{name} {share:.0%} of the datasheet" for name, share in shares.items())
    seen += "".join(f", {what} {rate:.1f} GB/s" for what, rate in copies.items())
    low, high = PLAUSIBLE
    holds = bool(shares) and len(copies) == 2 and all(low < share < high for share in shares.values())
    return holds, seen, {"calibration": found.to_dict(), "shares": shares}


def same(name: str) -> Found:
    """Results of the GPU beside those of the CPU."""
    from neural_cost.runtime.session import SessionOptions, open_session

    feeds = _feeds(name)
    here, there = (
        open_session(path(name), SessionOptions(provider=provider)).outputs(feeds) for provider in ("cpu", "cuda")
    )
    apart = max(float(np.abs(here[key] - there[key]).max() / np.abs(here[key]).max()) for key in here)
    return apart <= TOLERANCE, f"differs by {apart:.1e} of the largest value", {"difference": apart}


def profiled(name: str) -> Found:
    """A profile: kernels on the GPU, mapped, MACs conserved, and their times about those of the run."""
    import neural_cost

    found = neural_cost.profile(path(name), MODELS[name], provider="cuda", budget_s=2.0)
    mapped = found.mapping.time_share + found.mapping.inserted_share
    providers = sorted({kernel.provider for kernel in found.kernels})
    measured, shown = found.measurement, ", ".join(providers)
    device = found.report.opened.device
    seen = (
        f"median {measured.median_s * 1e6:.0f} us, kernels {measured.kernels_s * 1e6:.0f} us by {shown}; "
        f"mapped {mapped:.1%} of time, {found.mapping.mac_share or 0:.1%} of MACs; bound by {device}"
    )
    holds = mapped >= MAPPED and found.mapping.mac_share == 1 and "CUDAExecutionProvider" in providers
    holds = holds and measured.median_s > 0 and found.gap is not None and not found.gap.bound_violated
    return holds, seen, found.to_dict()


def compared(name: str) -> Found:
    """Torch on the GPU beside ONNX Runtime on it."""
    if find_spec("torch") is None:
        return None, "torch is not installed", {}
    import neural_cost

    found = neural_cost.compare(f"zoo:{name}@torch", dims=MODELS[name], device="cuda", budget_s=4.0)
    lines = [
        f"{each.name} {each.error}" if each.median_s is None else f"{each.name} {each.median_s * 1e6:.0f} us"
        for each in found.backends
    ]
    holds = all(each.median_s is not None and each.within is not False for each in found.backends)
    return holds, "; ".join([*lines, *(note for each in found.backends for note in each.notes)]), found.to_dict()


def refused() -> Found:
    """What CUDA lacks a kernel for is left to the CPU, and said to be: never without a word."""
    from neural_cost.runtime.session import SessionOptions, open_session

    session = open_session(_mod(), SessionOptions(provider="cuda"))
    notes = session.notes()
    return bool(notes), "; ".join(notes) or "all nodes are on CUDA: nothing to tell of", {"notes": notes}


def _mod() -> bytes:
    import onnx.parser

    text = """<ir_version: 8, opset_import: ["": 17]>
    g (float[2] x) => (float[2] z) { y = Mod <fmod: int = 1> (x, x) z = Relu(y) }"""
    return bytes(onnx.parser.parse_model(text).SerializeToString())


def _feeds(name: str) -> dict[str, np.ndarray[Any, Any]]:
    import neural_cost
    from neural_cost.runtime.feeds import make_feeds

    return make_feeds(neural_cost.analyze(path(name), MODELS[name]))


def checks() -> list[tuple[str, Callable[[], Found]]]:
    """All of them, in order: bounds of profiles use the calibration."""
    found: list[tuple[str, Callable[[], Found]]] = [
        ("detect", detected), ("session", started), ("calibrate", calibrated), ("what CUDA lacks", refused),
    ]  # fmt: skip
    for name in MODELS:
        for what, check in (("results", same), ("profile", profiled), ("compare", compared)):
            found.append((f"{what}, {name}", partial(check, name)))
    return found


def checked(name: str, check: Callable[[], Found]) -> Checked:
    """The outcome of one; an error is a failure, with its last line."""
    start = time.perf_counter()
    try:
        holds, seen, figures = check()
    except Exception as error:
        traceback.print_exc()
        holds, seen, figures = False, f"{type(error).__name__}: {' '.join(str(error).split())}", {}
    return Checked(name, holds, seen, time.perf_counter() - start, figures)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, and tell."""
    parser = ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--output", type=Path, help="JSON of all that was seen")
    asked = parser.parse_args(arguments)
    from neural_cost.runtime.gpus import detect_gpus

    if not any(gpu.vendor == "NVIDIA" for gpu in detect_gpus()):
        print("no GPU: neither nvidia-ml-py nor nvidia-smi tells of one, so nothing was checked", file=sys.stderr)
        return NO_GPU
    found: list[Checked] = []
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.setdefault("NEURAL_COST_CACHE", scratch)
        for name, check in checks():
            found.append(checked(name, check))
            print(found[-1], flush=True)
    failed = [each.name for each in found if each.holds is False]
    told = f"{len(failed)} of {len(found)} fail: {', '.join(failed)}"
    print(told if failed else f"all {len(found)} hold or are skipped")
    if asked.output is not None:
        data = [{"name": each.name, "holds": each.holds, "seen": each.seen, "seconds": each.seconds,
                 "figures": each.figures} for each in found]  # fmt: skip
        asked.output.write_text(json.dumps(data, indent=1, default=str), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

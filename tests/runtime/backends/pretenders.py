"""Backends that behave in ways that a test wants; a process of its own must be able to import them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neural_cost.runtime.backends.protocol import Ready
from neural_cost.runtime.timing import wall

PIDS = "PRETENDERS_PIDS"  # a folder, in which processes leave their ids
CHILD = f"import os, time; open(os.environ['{PIDS}'] + '/' + str(os.getpid()), 'w').close(); time.sleep(600)"


@dataclass(frozen=True)
class Pretender:
    """Doubles its input, and does what its name says.

    "crash", "hang" and "raise" happen at the first run; "crash later" and "hang later" in the fifth.
    """

    name: str
    framework: str = "onnx"
    sleep_s: float = 0.001

    def missing(self) -> str | None:
        return "pip install nothing" if self.name == "absent" else None

    def prepare(self, job: Any) -> Any:
        assert job.threads
        if PIDS in os.environ:
            (Path(os.environ[PIDS]) / str(os.getpid())).touch()
        calls = []

        def run() -> None:
            calls.append(1)
            if not self.name.endswith("later") or len(calls) == 5:
                _misbehave(self.name)
            time.sleep(self.sleep_s)

        def ready(feeds: Any) -> Ready:
            doubled = [2 * array for array in feeds.values()]
            if self.name == "wrong":
                doubled = [array + 1 for array in doubled]
            if self.name == "shapeless":
                doubled = [array.ravel() for array in doubled]
            if self.name == "many":
                doubled *= 2
            results = lambda: [np.asarray(array) for array in doubled]  # noqa: E731
            if self.name == "device":  # it works by itself: its timer waits for it
                return Ready(lambda: None, results, lambda fn, calls: wall(run, calls))
            return Ready(run, results)

        return ready


def _misbehave(name: str) -> None:
    print("about to", name, flush=True)
    if name.startswith("crash"):
        os.abort()
    if name.startswith("leave"):
        os._exit(3)
    if name == "hang with a child":
        subprocess.Popen([sys.executable, "-c", CHILD])
    if name.startswith("hang"):
        time.sleep(600)
    if name.startswith("raise"):
        raise RuntimeError("no such kernel")

"""Tools on models, each in a process of its own, so that its peak memory is its own."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.worker import TOOLS

WORKER = Path(__file__).with_name("worker.py")
COMMAND = "neural-cost analyze resnet50"


@dataclass
class Row:
    """One tool on one model over all rounds; `error` says why there is no figure."""

    model: str
    tool: str
    version: str = ""
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0
    macs: float | None = None
    error: str = ""

    @property
    def best(self) -> float | None:
        return min(self.seconds, default=None)

    def add(self, result: dict[str, Any]) -> None:
        self.error = result.get("error", "")
        if not self.error:
            self.seconds += result["seconds"]
            self.peak_bytes = max(self.peak_bytes, result["peak_bytes"])
            self.macs, self.version = result["macs"], result["version"]


def run_worker(tool: str, model: Path, seconds: float, timeout: float, warm_up: Path) -> dict[str, Any]:
    """Run one tool on one model in its own process; an error or the timeout is told as `error`."""
    command = [sys.executable, str(WORKER), tool, str(model), str(seconds)]
    environment = {**os.environ, "WARM_UP": str(warm_up)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {timeout:g} s"}
    if done.returncode:
        return {"error": f"exit code {done.returncode}"}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure_models(models: dict[str, Path], warm_up: Path, *, rounds: int, seconds: float, timeout: float) -> list[Row]:
    """Measure every tool on every model, tools interleaved; one that failed is not asked again."""
    rows = [Row(model, tool) for model in models for tool in TOOLS]
    for model, path in models.items():
        for _ in range(rounds):
            for row in rows:
                if row.model == model and not row.error:
                    print(f"{model}: {row.tool}", file=sys.stderr)
                    row.add(run_worker(row.tool, path, seconds, timeout, warm_up))
    return rows


def measure_cold(model: Path, rounds: int) -> dict[str, list[float]]:
    """Time whole processes from a cold start, interleaved; a command that fails has no times."""
    commands = {
        "python -c pass": ["-c", "pass"],
        "python -c 'import onnx_ir'": ["-c", "import onnx_ir"],
        COMMAND: ["-m", "neural_cost", "analyze", str(model)],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            start = time.perf_counter()
            done = subprocess.run([sys.executable, *command], capture_output=True, check=False)
            if done.returncode == 0:
                times[name].append(time.perf_counter() - start)
    return times

"""How fast `analyze` is, beside its peers in the same run: `python -m benchmarks.analyze [--quick] [--output FILE]`.

Each tool reads each model in a process of its own, so that its peak memory is its own. Rounds are interleaved: every
tool runs once in each, so a slow moment of the machine hits all alike. Ratios are of the best times, the steadiest.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.chain import write_chain
from benchmarks.worker import TOOLS

OURS = "neural-cost"
COMMAND = "neural-cost analyze resnet50"
BASELINE = "onnx_ir + onnx-shape-inference"
WORKER = Path(__file__).with_name("worker.py")
CHAINS = (1_000, 10_000, 100_000)

RESNET_WARM_S = 0.12
COLD_START_S = 1.3
OVER_BASELINE = 2.0
LINEAR = 1.3  # seconds a node on the longest chain over the shortest above 1k: 1 is linear, the rest is noise


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


@dataclass(frozen=True)
class Target:
    """What was promised, and what is."""

    name: str
    limit: float
    value: float | None

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        return "met" if self.value <= self.limit else "missed"


def resnet50() -> Path:
    """Return the light ResNet-50 that the onnx package ships."""
    import onnx

    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / "light_resnet50.onnx"


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
    # an installed package is compiled: do not time the compiling of an editable one
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(rounds):
        for name, command in commands.items():
            start = time.perf_counter()
            done = subprocess.run([sys.executable, *command], capture_output=True, check=False, env=environment)
            if done.returncode == 0:
                times[name].append(time.perf_counter() - start)
    return times


def targets(rows: list[Row], cold: dict[str, list[float]]) -> list[Target]:
    """Hold what was measured against what was promised."""
    best = {(row.model, row.tool): row.best for row in rows}
    ours = {model: seconds for (model, tool), seconds in best.items() if tool == OURS and seconds}
    ratios = [seconds / base for model, seconds in ours.items() if (base := best[model, BASELINE])]
    return [
        Target("resnet50, warm, s", RESNET_WARM_S, ours.get("resnet50")),
        Target("resnet50, whole command from a cold start, s", COLD_START_S, min(cold[COMMAND], default=None)),
        Target("largest ratio to loading plus inference alone", OVER_BASELINE, max(ratios, default=None)),
        Target("growth: time a node, longest chain / 10k", LINEAR, _growth(ours)),
    ]


def _growth(ours: dict[str, float]) -> float | None:
    a_node = [ours[name] / nodes for nodes in CHAINS if nodes >= 10_000 and (name := chain_name(nodes)) in ours]
    return a_node[-1] / a_node[0] if len(a_node) > 1 else None


def chain_name(nodes: int) -> str:
    return f"chain of {nodes:,}"


def as_markdown(rows: list[Row], cold: dict[str, list[float]], met: list[Target]) -> str:
    """Write three tables: the tools side by side, cold starts, targets."""
    base = {row.model: row.best for row in rows if row.tool == BASELINE}
    lines = [
        "| model | tool | best s | median s | / load + inference | peak MB | MACs |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [f"| {row.model} | {row.tool} {row.version} | {_figures(row, base[row.model])} |" for row in rows]
    lines += ["", "| whole process | best s | median s |", "|---|---|---|"]
    lines += [
        f"| {name} | {min(t):.2f} | {median(t):.2f} |" if t else f"| {name} | failed | |" for name, t in cold.items()
    ]
    lines += ["", "| target | at most | measured | |", "|---|---|---|---|"]
    lines += [f"| {t.name} | {t.limit:g} | {_number(t.value)} | {t.verdict} |" for t in met]
    return "\n".join(lines)


def _figures(row: Row, base: float | None) -> str:
    if row.best is None:
        return f"{row.error} | | | |"
    ratio = row.best / base if base else None
    macs = "" if row.macs is None else f"{row.macs:,.0f}"
    return f"{row.best:.4f} | {median(row.seconds):.4f} | {_number(ratio)} | {row.peak_bytes / 1e6:.0f} | {macs}"


def _extremes(times: list[float]) -> str:
    return f"{min(times):.2f} | {median(times):.2f}" if times else "failed |"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def machine() -> dict[str, str | int | None]:
    """Say where the figures are from."""
    return {"python": platform.python_version(), "machine": platform.machine(), "cpus": os.cpu_count()}


def benchmark(arguments: argparse.Namespace) -> tuple[list[Row], dict[str, list[float]]]:
    """Measure everything that the arguments ask for."""
    chains = [nodes for nodes in CHAINS if not arguments.quick or nodes < max(CHAINS)]
    rounds = 1 if arguments.quick else arguments.rounds
    with tempfile.TemporaryDirectory() as folder:
        models = {"resnet50": resnet50()}
        models |= {chain_name(n): write_chain(Path(folder) / f"chain{n}.onnx", n) for n in chains}
        warm_up = write_chain(Path(folder) / "warm_up.onnx", 9)
        rows = measure_models(models, warm_up, rounds=rounds, seconds=arguments.seconds, timeout=arguments.timeout)
        return rows, measure_cold(models["resnet50"], rounds)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, no chain of 100k nodes")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (%(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of repeated reads in a round (%(default)s)")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds until a tool is stopped (%(default)s)")
    parser.add_argument("--output", type=Path, help="also write the figures there, as JSON")
    return parser.parse_args(arguments)


def main() -> None:
    arguments = parse()
    rows, cold = benchmark(arguments)
    met = targets(rows, cold)
    print(as_markdown(rows, cold, met))
    if arguments.output:
        record = {"machine": machine(), "rows": [asdict(row) for row in rows], "cold": cold}
        record["targets"] = [{**asdict(target), "verdict": target.verdict} for target in met]
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""How fast `analyze` is, beside its peers in the same run: `python -m benchmarks.analyze [--quick] [--output FILE]`.

Each tool reads each model in a process of its own, so that its peak memory is its own. Rounds are interleaved: every
tool runs once in each, so a slow moment of the machine hits all alike. Ratios are of the best times, the steadiest.
"""

import argparse
import json
import os
import platform
import tempfile
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks.chain import write_chain
from benchmarks.measure import Row, measure_cold, measure_models
from benchmarks.subjects import RESNET, write_subjects
from benchmarks.targets import BASELINE, Target, targets


def as_markdown(rows: list[Row], cold: dict[str, list[float]], met: list[Target]) -> str:
    """Write three tables: the tools side by side, cold starts, targets."""
    base = {row.model: row for row in rows if row.tool == BASELINE}
    lines = [
        "| model | tool | best s | median s | / load + inference | peak MB | / load + inference | MACs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [f"| {row.model} | {row.tool} {row.version} | {_figures(row, base[row.model])} |" for row in rows]
    lines += ["", "| whole process | best s | median s |", "|---|---|---|"]
    lines += [
        f"| {name} | {min(t):.2f} | {median(t):.2f} |" if t else f"| {name} | failed | |" for name, t in cold.items()
    ]
    lines += ["", "| target | at most | measured | |", "|---|---|---|---|"]
    lines += [f"| {t.name} | {t.limit:g} | {_number(t.value)} | {t.verdict} |" for t in met]
    return "\n".join(lines)


def _figures(row: Row, base: Row) -> str:
    if row.best is None:
        return f"{row.error} | | | | |"
    time, memory = (row.best / base.best, row.peak_bytes / base.peak_bytes) if base.best else (None, None)
    macs = "" if row.macs is None else f"{row.macs:,.0f}"
    seconds = f"{row.best:.4f} | {median(row.seconds):.4f} | {_number(time)}"
    return f"{seconds} | {row.peak_bytes / 1e6:.0f} | {_number(memory)} | {macs}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def machine() -> dict[str, str | int | None]:
    """Say where the figures are from."""
    return {"python": platform.python_version(), "machine": platform.machine(), "cpus": os.cpu_count()}


def benchmark(arguments: argparse.Namespace) -> tuple[list[Row], dict[str, list[float]]]:
    """Measure everything that the arguments ask for."""
    rounds = 1 if arguments.quick else arguments.rounds
    with tempfile.TemporaryDirectory() as folder:
        models = write_subjects(Path(folder), quick=arguments.quick)
        warm_up = write_chain(Path(folder) / "warm_up.onnx", 9)
        rows = measure_models(models, warm_up, rounds=rounds, seconds=arguments.seconds, timeout=arguments.timeout)
        return rows, measure_cold(models[RESNET], rounds)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, without the largest models")
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

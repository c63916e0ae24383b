"""What `neural-cost hardware --calibrate` measures beside a triad and a loop of multiply-adds in C, on one thread.

`python -m benchmarks.calibration --output benchmarks/calibration.md` measures it anew. Both sides take turns, round by
round. What else runs on the machine comes and goes: so they are held against each other by the ratio within a round,
and its median over rounds. Then the machine is calibrated several times in a row, and each is held against the others.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

from neural_cost.analyzer.calibration import NOISY
from neural_cost.analyzer.recalibration import disagreement, ratios
from neural_cost.runtime.calibrate.bandwidth import ARRAYS, FLOAT, added, row_read, working_sets
from neural_cost.runtime.calibrate.calibrate import calibrate
from neural_cost.runtime.calibrate.compute import SIZES, feeds_of, product
from neural_cost.runtime.calibrate.samples import best
from neural_cost.runtime.detect import detect_cpu
from neural_cost.runtime.session import SessionOptions, open_session

SOURCE = Path(__file__).with_name("references.c")
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")
WITHIN = 0.15
PASS_BYTES = 4 << 20  # that one call into C moves at least
LEAST_SAMPLES = 5
FMA_STEPS, FMA_SAMPLES = 20_000, 50
SUM_STEP = 8 * 16  # floats that the widest sum takes at once
MATRICES = [size for size in SIZES if 256 <= size <= 512]


@dataclass
class Row:
    """One quantity on both sides, in units of 1e9 a second: every round's best."""

    name: str
    reference: Callable[[], float]
    ours: Callable[[], float]
    judged: bool = True  # held against WITHIN
    found: list[tuple[float, float]] = field(default_factory=list)

    @property
    def best(self) -> tuple[float, float]:
        return max(pair[0] for pair in self.found), max(pair[1] for pair in self.found)

    @property
    def ratio(self) -> float:
        """Ours over theirs: the median over rounds."""
        return median(ours / reference for reference, ours in self.found)

    @property
    def middle(self) -> tuple[float, float]:
        """Quartiles of that ratio: half of the rounds lie between."""
        ratios = sorted(ours / reference for reference, ours in self.found)
        return ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]

    @property
    def verdict(self) -> str:
        """Undecided is what lies beyond by its median alone, while half of the rounds reach to where it would not."""
        if not self.judged:
            return ""
        if abs(self.ratio - 1) <= WITHIN:
            return "within"
        low, high = self.middle
        return "undecided" if low <= 1 + WITHIN and high >= 1 - WITHIN else "beyond"

    def turn(self, number: int) -> None:
        """One round, in the other order each time."""
        sides = (self.reference, self.ours)
        if number % 2:
            ours, reference = (side() for side in reversed(sides))
        else:
            reference, ours = (side() for side in sides)
        self.found.append((reference, ours))


def build(folder: Path) -> ctypes.CDLL | None:
    """Compile the references; None where there is no gcc."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return None
    library = folder / "references.so"
    subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    for name in ("triad_seconds", "sum_seconds"):
        getattr(loaded, name).argtypes = [ctypes.c_size_t, ctypes.c_int]
    loaded.fma_seconds.argtypes = [ctypes.c_long]
    loaded.forget.restype = None
    for name in ("triad_seconds", "sum_seconds", "fma_seconds", "fma_flops"):
        getattr(loaded, name).restype = ctypes.c_double
    return loaded


def rows_of(library: ctypes.CDLL, sizes: Sequence[int], budget_s: float) -> Iterator[Row]:
    """Every quantity; `budget_s` is for each of ours in a round."""
    yield Row("float32, GFLOP/s", lambda: fma(library), lambda: product_rate(budget_s))
    for size in sizes:
        name = f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
        both = partial(triad, library, size, budget_s), partial(sums, size, budget_s)
        yield Row(f"sum of arrays, {name}, GB/s", *both)
        both = partial(read, library, size, budget_s), partial(rows, size, budget_s)
        yield Row(f"row times matrix, {name}, GB/s", *both, judged=False)


def fma(library: ctypes.CDLL) -> float:
    """GFLOP/s of the loop of multiply-adds."""
    seconds = min(library.fma_seconds(FMA_STEPS) for _ in range(FMA_SAMPLES))
    return float(library.fma_flops() / seconds / 1e9)


def triad(library: ctypes.CDLL, size: int, budget_s: float) -> float:
    """GB/s of the triad over three arrays of `size` bytes together."""
    elements = size // ARRAYS // FLOAT
    library.forget()  # as each of ours has new arrays
    return elements * ARRAYS * FLOAT / _shortest(library.triad_seconds, elements, size, budget_s) / 1e9


def read(library: ctypes.CDLL, size: int, budget_s: float) -> float:
    """GB/s of a sum over `size` bytes."""
    elements = size // FLOAT // SUM_STEP * SUM_STEP
    library.forget()
    return elements * FLOAT / _shortest(library.sum_seconds, elements, size, budget_s) / 1e9


def _shortest(seconds_of: Callable[[int, int], float], elements: int, size: int, budget_s: float) -> float:
    """The best of as many samples as there is time for, and of at least as many as `best` takes."""
    times = max(1, PASS_BYTES // size)
    until = perf_counter() + budget_s
    found: list[float] = []
    while len(found) < LEAST_SAMPLES or perf_counter() < until:
        found.append(seconds_of(elements, times))
    if min(found) <= 0:
        raise MemoryError(f"the reference lacks memory for {size} bytes")
    return min(found)


def product_rate(budget_s: float) -> float:
    """GFLOP/s of the best product of two matrices, as the calibration takes it."""
    return max(2e-9 * size**3 / _product_s(size, budget_s) for size in MATRICES)


def _product_s(size: int, budget_s: float) -> float:
    session = open_session(product("float32", size), SessionOptions(threads=1))
    return best(session.runner(feeds_of("float32", size)), budget_s).seconds


def sums(size: int, budget_s: float) -> float:
    """GB/s of the calibration's sums of arrays."""
    return size / added(size, budget_s).seconds / 1e9


def rows(size: int, budget_s: float) -> float:
    """GB/s of the calibration's products of a row with a matrix."""
    return size / row_read(1, size, budget_s).seconds / 1e9


def table(found: Sequence[Row]) -> str:
    """Markdown: both sides, our figure over theirs, and whether that is near enough."""
    lines = [
        "| one thread | C, best | calibration, best | calibration / C | half of the rounds | |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for row in found:
        reference, ours = row.best
        low, high = row.middle
        figures = f"{reference:.1f} | {ours:.1f} | {row.ratio:.2f} | {low:.2f} to {high:.2f}"
        lines.append(f"| {row.name} | {figures} | {row.verdict} |")
    return "\n".join(lines)


def repeated(times: int) -> str:
    """Markdown: calibrations in a row, each against each one before it, and what each says of itself."""
    found = [calibrate() for _ in range(times)]
    lines = ["| calibration | beside | ratios of all figures | further than 10 % apart | what the report says |",
             "|---|---|---|---:|---|"]  # fmt: skip
    for later, earlier in ((b, a) for b in range(times) for a in range(b)):
        both = [ratio for _, ratio in ratios(found[later], found[earlier])]
        apart = sum(abs(ratio - 1) > NOISY for ratio in both)
        said = "; ".join([*found[later].doubts, disagreement(found[later], found[earlier]) or ""]).strip("; ")
        span = f"{min(both):.2f} to {max(both):.2f}, median {median(both):.2f}"
        lines.append(f"| {later + 1} | {earlier + 1} | {span} | {apart} of {len(both)} | {said or 'nothing'} |")
    return "\n".join(lines)


def page(found: Sequence[Row], rounds: int, again: str) -> str:
    """All of it, with the conditions."""
    info = detect_cpu()
    versions = ", ".join(f"{name} {version(name)}" for name in ("onnxruntime", "numpy"))
    gcc = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    text = (__doc__ or "").split("\n\n")[1].strip().replace("\n", " ").split(" Both sides")
    return "\n\n".join(
        [
            "# Calibration beside C",
            f"{text[0]}\n\nBoth sides{text[1]}",
            f"{info.name}, {info.cores} cores of a virtual machine; {versions}; gcc {gcc} {' '.join(FLAGS[:2])}; "
            f"{datetime.now(UTC):%Y-%m-%d}; {rounds} rounds; load averages at the end {load}. Within is {WITHIN:.0%}; "
            "undecided, where half of the rounds reach to within it. "
            "A row times a matrix is what ONNX Runtime reads weights at: it is held against a sum in C, which it need "
            "not reach, and a calibration has the faster of the two at each working set.",
            table(found),
            "## Calibrations in a row",
            again,
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the page."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--budget", type=float, default=0.02, help="seconds for each figure of a round")
    parser.add_argument("--largest", type=int, default=1024, help="MiB of the largest working set")
    parser.add_argument("--repeats", type=int, default=3, help="calibrations in a row")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args(arguments)
    caches = detect_cpu().caches
    sizes = [size for size in working_sets(caches.get("L3") or caches.get("L2")) if size <= asked.largest << 20]
    with tempfile.TemporaryDirectory() as scratch:
        library = build(Path(scratch))
        if library is None:
            print("there is no gcc here, and so no reference to compare with", file=sys.stderr)
            return 2
        found = list(rows_of(library, sizes, asked.budget))
        for number in range(asked.rounds):
            print(f"round {number + 1} of {asked.rounds}", file=sys.stderr)
            for row in found:
                row.turn(number)
    text = page(found, asked.rounds, repeated(asked.repeats))
    if asked.output is None:
        print(text)
    else:
        asked.output.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

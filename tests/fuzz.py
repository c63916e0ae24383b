"""Broken models by the thousand: `python -m tests.fuzz --seed 1 --seconds 60`.

Each is analyzed in a child process with little memory and little time. A report must be valid by its schema, with no
negative count; an error must be a NeuralCostError of one sentence that names the file. All else is a fault.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import onnx
import onnx.parser

from tests.layout import ROOT
from tests.mutations import mutant

MEMORY = 4 * 2**30  # bytes of address space of the child
GROWTH = 512 * 2**20  # bytes that one small file may take beyond what the child had
SECONDS = 30  # for one file: what takes longer hangs, whatever the machine
COUNTS = ("macs", "flops", "other_flops", "special_ops", "read_bytes", "write_bytes", "repeats")


@dataclass(frozen=True, slots=True)
class Fault:
    """A broken model that was not borne as it should be."""

    source: str
    data: bytes
    what: str

    @property
    def kind(self) -> str:
        """What it has in common with others: the last line of the traceback, and where."""
        lines = [line.strip() for line in self.what.splitlines() if line.strip()]
        places = [line for line in lines if line.startswith("File") and "/analyzer/" in line]
        place = re.sub(r'.*/(\w+/\w+\.py)", line (\d+), in (\w+)', r"\1:\2 \3", places[-1]) if places else ""
        return f"{lines[-1][:100]} | {place}"


def seeds(*, node_tests: bool = False) -> list[tuple[str, onnx.ModelProto]]:
    """Sound models to break, by name."""
    from tests import bad_models, random_nodes
    from tests.analyzer import test_control_flow as control_flow

    found = [(path.stem, onnx.load(path)) for path in sorted((ROOT / "models").glob("*.onnx"))]
    for name in ("LOOP", "COUNTED", "DATA_DEPENDENT", "GROWING", "IF", "SCAN", "NESTED", "SEQUENCE_MAP"):
        text = getattr(control_flow, name).replace("{%s}", "{1}").replace("%s", "")
        found.append((name, onnx.parser.parse_model(control_flow.HEAD + text)))
    found += [("nested", bad_models.nested(6)), ("external", bad_models.external("weights.bin"))]
    found += [(name, onnx.parser.parse_model(text)) for name, text in SHAPE_ARITHMETIC.items()]
    rng = random.Random(0)
    found += [(make.__name__, make(rng).model()) for make in random_nodes.FAMILIES.values() for _ in range(3)]
    return found + (list(_node_tests()) if node_tests else [])


def _node_tests() -> Iterator[tuple[str, onnx.ModelProto]]:
    from tests.node_tests import cases

    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    yield from ((path.stem, onnx.load(path)) for path in sorted(light.glob("*.onnx")))
    yield from ((case.name, case.model) for case in cases())


SHAPE_ARITHMETIC = {
    "flatten": """<ir_version: 9, opset_import: ["": 20]> g (float[b, s, 8] x) => (float[b, t] y)
        <int64[1] minus = {-1}, int64[1] zero = {0}, int64[1] two = {2}, int64 at = {0}, int64 one = {1}> {
        s = Shape(x) b = Slice(s, zero, two, zero) p = ReduceProd <keepdims = 0> (b) q = Unsqueeze(p, zero)
        to = Concat <axis = 0> (q, minus) r = Reshape(x, to) n = Gather(s, at) k = Range(at, n, one)
        c = ConstantOfShape(s) e = Expand(r, q) t = Tile(c, s) v = Add(x, c) y = Reshape(v, to) }""",
    "pad": """<ir_version: 9, opset_import: ["": 20]> g (float[2, 3] x) => (float[a, b] y)
        <int64[4] pads = {0, 1, 0, 1}, int64[2] times = {2, 3}, int64[2] to = {6, 15}, int64[1] axis = {1}> {
        p = Pad(x, pads) t = Tile(p, times) r = Reshape(t, to) n = NonZero(r) c = CumSum(r, axis)
        k, i = TopK(r, axis) o = OneHot(i, axis, times) z = Split <num_outputs = 3, axis = 1> (r)
        s = SplitToSequence <axis = 1> (r) y = Resize <mode = "nearest"> (c, , , to) }""",
    "calls": """<ir_version: 9, opset_import: ["": 20, "local": 1]> g (float[2, 3] x) => (float[2, 3] y) {
        a = local.f <k = 1> (x) y = local.g(a) }
        <domain: "local", opset_import: ["": 20, "local": 1]> f <k> (a) => (b) {
        t = Relu(a) b = Softmax <axis = @k> (t) }
        <domain: "local", opset_import: ["": 20, "local": 1]> g (a) => (b) {
        t = local.f <k = 0> (a) u = local.f <k = 1> (t) b = Add(t, u) }""",
}


def judge(path: Path) -> str:
    """What is wrong with how one file is borne; empty where nothing is."""
    import neural_cost

    try:
        report = neural_cost.analyze(path)
        data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
        return _wrong_counts(data) or _invalid(data) or _rendered(report)
    except neural_cost.NeuralCostError as error:
        return _wrong_sentence(str(error), path)
    except Exception:
        return traceback.format_exc()


def _rendered(report: Any) -> str:
    from neural_cost.analyzer.tables.summary import summary
    from neural_cost.analyzer.tables.text import to_text
    from neural_cost.analyzer.tables.view import View

    to_text(summary(report, View(verbose=True, symbolic=True)))
    return ""


def _wrong_counts(data: dict[str, Any]) -> str:
    for node in data["nodes"]:
        negative = [name for name in COUNTS if (node[name] or 0) < 0]
        if negative:
            return f"negative {negative[0]} of {node['op_type']}"
    totals = data["totals"]
    flat = {**totals, **totals["traffic_bytes"], **totals["macs_by_type"], **totals["flops_by_type"]}
    negative = [name for name, count in flat.items() if isinstance(count, int | float) and count < 0]
    return f"negative total {negative[0]}" if negative else ""


def _invalid(data: dict[str, Any]) -> str:
    error = next(validator().iter_errors(data), None)
    return f"not valid by the schema: {error.message[:200]} at {list(error.path)}" if error else ""


def _wrong_sentence(text: str, path: Path) -> str:
    if str(path) not in text and path.name not in text:
        return f"the error does not name the file: {text}"
    if "\n" in text or not 20 < len(text) < 600:
        return f"the error is not one sentence ({len(text)} characters): {text[:200]}"
    return ""


@cache
def validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads((files("neural_cost") / "schema.json").read_text()))


def _serve(pipe: Connection, folder: str) -> None:
    """The child: judge file after file."""
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    path = Path(folder) / "mutant.onnx"
    while (data := pipe.recv()) is not None:
        path.write_bytes(data)
        before = _peak()
        what = judge(path)
        grown = _peak() - before
        pipe.send(what or (f"memory grew by {grown >> 20} MiB" if grown > GROWTH else ""))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Judge:
    """A child process that judges, and is replaced when it dies or hangs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self._pipe, other = self._context.Pipe()
        self._child = self._context.Process(target=_serve, args=(other, str(self.folder)), daemon=True)
        self._child.start()
        other.close()
        self._ask(b"", seconds=120)  # imports are not held against the first file

    def _ask(self, data: bytes, seconds: float = SECONDS) -> str:
        self._pipe.send(data)
        if not self._pipe.poll(seconds):
            return f"took more than {seconds} s"
        return str(self._pipe.recv())

    def __call__(self, data: bytes) -> str:
        """What is wrong with how these bytes are borne."""
        try:
            what = self._ask(data)
        except (EOFError, ConnectionError):
            what = "the process died"
        if what.startswith(("took", "the process died")):
            self.close()
            self._start()
        return what

    def close(self) -> None:
        """End the child."""
        self._child.kill()
        self._child.join()


def fuzz(seed: int, seconds: float, models: Sequence[tuple[str, onnx.ModelProto]]) -> tuple[int, list[Fault]]:
    """Break models for so long; how many were judged, and the faults found."""
    rng = random.Random(seed)
    faults: list[Fault] = []
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        judge_ = Judge(Path(folder))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            name, model = rng.choice(models)
            data = mutant(rng, model)
            count += 1
            if what := judge_(data):
                faults.append(Fault(name, data, what))
        judge_.close()
    return count, faults


def main() -> None:
    """Fuzz, show each kind of fault once, and keep its file where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--small", action="store_true", help="leave ONNX's node tests out")
    parser.add_argument("--keep", type=Path, help="folder for one file of each kind of fault")
    options = parser.parse_args()
    count, faults = fuzz(options.seed, options.seconds, seeds(node_tests=not options.small))
    kinds = Counter(fault.kind for fault in faults)
    print(f"{count} files, {len(faults)} faults of {len(kinds)} kinds")
    for number, (kind, times) in enumerate(kinds.most_common()):
        fault = next(each for each in faults if each.kind == kind)
        print(f"\n{number}. {times} x {kind}\n   from {fault.source}")
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{number}.onnx").write_bytes(fault.data)
            (options.keep / f"{number}.txt").write_text(fault.what)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

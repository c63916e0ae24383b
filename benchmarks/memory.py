"""Activation memory beside what ONNX Runtime asks its arena for: `python -m benchmarks.memory [--output FILE]`.

Measured is the first run of a fresh session, from its profile: the most bytes in use as requested (before they are
rounded up), less those in use before the first node (weights), and the bytes of the inputs, which the caller holds. A
later run takes one block that was planned after the first, so it tells less. What kernels need for themselves is
freed before their event is written, so it is not in the figure.

Everything is measured twice: with default options, and with basic optimizations alone (constants folded,
BatchNormalization in its convolution; nothing else fused, no other layout).
"""

import argparse
import json
import platform
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import onnx

import neural_cost
from neural_cost.models import NAMES, path
from neural_cost.runtime.inputs import random_input
from neural_cost.runtime.profile_events import requested_peak

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
LEVELS = {"default": "ORT_ENABLE_ALL", "basic": "ORT_ENABLE_BASIC"}


@dataclass(frozen=True)
class Subject:
    """A model, and the sizes it is run with."""

    name: str
    file: Path
    dims: Mapping[str, int]


@dataclass(frozen=True)
class Row:
    """Bytes: the static figures, and what was measured at each level."""

    name: str
    dims: Mapping[str, int]
    lower: int
    plain: int
    upper: int
    planned: int
    measured: Mapping[str, int]

    def within(self, level: str) -> bool:
        """Whether the measured peak lies between the static figures."""
        return self.lower <= self.measured[level] <= self.upper

    @property
    def close(self) -> bool:
        """Whether the static figures are within 25% of each other."""
        return self.upper <= 1.25 * self.lower


def subjects(folder: Path) -> Iterator[Subject]:
    """Families, the light models of onnx, transformers exported from PyTorch, and models that packages ship."""
    from tests.corpus import practice_models
    from tests.transformer_models import MODELS, export, export_by_trace

    for name in NAMES:
        for batch in (1, 16):
            yield Subject(name, path(name), {"batch": batch})
    for file in sorted(LIGHT.glob("light_*.onnx")):
        yield Subject(file.stem, file, {})
    for name in MODELS:
        exported = export(name, folder)
        yield Subject(name, exported.file, {dim: {"batch": 8, "steps": 32}[dim] for dim in exported.dims})
    for name in ("bert", "gpt2"):
        yield Subject(f"{name}, older exporter", export_by_trace(name, folder).file, {"batch": 8, "steps": 32})
    for model in practice_models():
        yield Subject(model.name, model.file(), model.dims)


def measured_peak(subject: Subject, level: str) -> int:
    """Return the bytes that ONNX Runtime has in use at most in a first run, weights apart, inputs counted."""
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(folder) / "profile")
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
        session = onnxruntime.InferenceSession(subject.file, options, providers=["CPUExecutionProvider"])
        feeds = _feeds(subject)
        session.run(None, feeds)
        events = json.loads(Path(session.end_profiling()).read_text())
    nodes = [event for event in events if event.get("cat") == "Node"]
    peak = requested_peak(nodes)
    assert peak is not None, "ONNX Runtime tells of memory in every profile of the CPU"
    return peak + sum(array.nbytes for array in feeds.values())


def _feeds(subject: Subject) -> dict[str, Any]:
    graph = onnx.load(subject.file, load_external_data=False).graph
    held = {tensor.name for tensor in graph.initializer}
    feeds = {}
    for value in graph.input:
        if value.name not in held:
            tensor = value.type.tensor_type
            sizes = [
                subject.dims.get(f"{value.name}:{axis}", dim.dim_value or subject.dims.get(dim.dim_param, 1))
                for axis, dim in enumerate(tensor.shape.dim)
            ]
            feeds[value.name] = random_input(value.name, tensor.elem_type, sizes)
    return feeds


def row(subject: Subject) -> Row | None:
    """Compare one model; None where its peak is not known."""
    memory = neural_cost.analyze(subject.file, dims=subject.dims).memory
    figures = (memory.peak_lower_bytes, memory.peak_bytes, memory.peak_upper_bytes, memory.planned_bytes)
    lower, plain, upper, planned = figures
    if lower is None or plain is None or upper is None or planned is None:
        print(f"{subject.name}: left out, {memory.why}")
        return None
    measured = {name: measured_peak(subject, level) for name, level in LEVELS.items()}
    return Row(subject.name, subject.dims, lower, plain, upper, planned, measured)


def as_markdown(rows: list[Row]) -> str:
    """Write the table, and what it comes to."""
    lines = [
        "| model | sizes | lower | measured, "
        + " | measured, ".join(LEVELS)
        + " | planned | plain | upper | / lower | |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for each in rows:
        sizes = ", ".join(f"{name} {size}" for name, size in each.dims.items())
        figures = [each.lower, *each.measured.values(), each.planned, each.plain, each.upper]
        verdict = "" if all(map(each.within, LEVELS)) else "**outside**"
        texts = " | ".join(f"{figure:,}" for figure in figures)
        lines.append(f"| {each.name} | {sizes} | {texts} | {each.upper / each.lower:.2f} | {verdict} |")
    return "\n".join([*lines, "", *(_summary(rows, level) for level in LEVELS)])


def _summary(rows: list[Row], level: str) -> str:
    within = [each for each in rows if each.within(level)]
    models = {each.name for each in within}
    close = {each.name for each in within if each.close}
    exact = {each.name for each in rows if abs(each.planned - each.measured[level]) <= 0.01 * each.measured[level]}
    return (
        f"- {level}: {len(within)} of {len(rows)} rows between lower and upper, {len(models)} models; "
        f"the two within 25% of each other on {len(close)} models; "
        f"planned within 1% of measured on {len(exact)} models."
    )


def conditions() -> str:
    """Say what was measured with."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("onnxruntime", "onnx", "torch"))
    return f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}; {packages}; 1 thread."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="also write the table there")
    parser.add_argument("--only", nargs="*", help="names of models")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wanted = [each for each in subjects(Path(folder)) if not arguments.only or each.name in arguments.only]
        rows = [found for each in wanted if (found := row(each)) is not None]
    text = f"{conditions()}\n\n{as_markdown(rows)}"
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()

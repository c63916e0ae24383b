"""One tool on one model in a process of its own: `worker.py TOOL MODEL SECONDS` prints its times and its peak memory.

The model is read again and again until SECONDS are over, at least once. The model in the environment's `WARM_UP` goes
first, so that imports and first calls are in no time.
"""

import contextlib
import gc
import io
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

MOST_SAMPLES = 30


def onnx_load(path: str) -> None:
    import onnx

    onnx.load(path)


def load_and_infer(path: str) -> None:
    import onnx_ir
    import onnx_shape_inference

    onnx_shape_inference.infer_symbolic_shapes(onnx_ir.load(path), warn_on_missing=False)


def symbolic_shape_infer(path: str) -> None:
    import onnx
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    SymbolicShapeInference.infer_shapes(onnx.load(path))


def neural_cost(path: str) -> float | None:
    from neural_cost import analyze

    return analyze(path).totals.macs


def onnx_tool(path: str) -> float:
    import onnx_tool

    graph = onnx_tool.Model(path, {"verbose": False}).graph
    graph.graph_reorder_nodes()
    graph.shape_infer(None)
    graph.profile()
    return graph.macs[0]


# name -> (what runs, the package whose version is told)
TOOLS: dict[str, tuple[Callable[[str], float | None], str]] = {
    "onnx.load": (onnx_load, "onnx"),
    "onnx_ir + onnx-shape-inference": (load_and_infer, "onnx-shape-inference"),
    "neural-cost": (neural_cost, "neural-cost"),
    "symbolic_shape_infer": (symbolic_shape_infer, "onnxruntime"),
    "onnx-tool": (onnx_tool, "onnx-tool"),
}


def measure(tool: str, path: str, seconds: float, warm_up: str | None = None) -> dict[str, object]:
    """Return seconds of each read, the MACs that the tool says, and the peak resident memory of this process."""
    run, package = TOOLS[tool]
    if warm_up:
        run(warm_up)
    samples: list[float] = []
    macs: float | None = None
    while not samples or (sum(samples) < seconds and len(samples) < MOST_SAMPLES):
        gc.collect()  # what the last read left behind is in no peak
        start = time.perf_counter()
        macs = run(path)
        samples.append(time.perf_counter() - start)
    return {"seconds": samples, "macs": macs, "peak_bytes": peak_bytes(), "version": metadata.version(package)}


def peak_bytes() -> int:
    """Return the largest resident set of this process: on Linux the kernel's, since getrusage inherits a parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    tool, path, seconds = sys.argv[1:]
    chatter = io.StringIO()
    try:
        with contextlib.redirect_stdout(chatter):
            result = measure(tool, path, float(seconds), os.environ.get("WARM_UP"))
    except ModuleNotFoundError as error:
        result = {"error": f"not installed ({error.name})"}
    except Exception as error:
        result = {"error": " ".join(f"{type(error).__name__}: {error}".split())[:200]}
    print(json.dumps(result))


if __name__ == "__main__":
    main()

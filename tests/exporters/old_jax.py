"""What a JAX below 0.7 exports, run with such a JAX in front of the path; prints JSON. It is no test of its own."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import neural_cost  # noqa: E402
from neural_cost.models import zoo  # noqa: E402


def exported(model, inputs, file, **options):
    found = neural_cost.export(model, inputs, file, **options)
    totals = neural_cost.analyze(file, dims={"batch": 16} if found.dims else None).totals
    return {
        "exporter": found.exporter,
        "jax": found.versions["jax"],
        "opset": found.opset,
        "open": bool(found.dims),
        "batches": len(found.parity.outputs),
        "within": found.parity.max_abs_diff < 1e-4,
        "parameters": totals.parameters,
        "macs": totals.macs,
    }


def main(folder):
    found = {}
    for name in ("dnn", "cnn", "rnn", "lstm", "transformer"):
        found[name] = exported(*zoo.family(name, "jax"), folder / f"{name}.onnx")
    weight = np.ones((4, 5), np.float32)
    found["function"] = exported(lambda x: jnp.tanh(x @ weight), np.ones((3, 4), np.float32), folder / "f.onnx")
    try:
        exported(lambda x: x + 1, np.ones((3, 4), np.float32), folder / "new.onnx", opset=21)
    except neural_cost.ExportError as error:
        found["too new"] = [str(error), (folder / "new.onnx").exists()]
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Write the canonical families' ONNX files: `python -m neural_cost.models.make` (needs the extra `torch`).

A file is written beside its place, checked, compared with the module at two batch sizes, and only then moved there.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neural_cost.models import NAMES, path

if TYPE_CHECKING:
    from torch import nn

    from neural_cost.models.torch_families import Family

OPSET = 20
BATCHES = (1, 16)
TOLERANCE = 1e-5  # largest absolute difference of a float32 logit
STACK_TRACE = "pkg.torch.onnx.stack_trace"
UNROLLED_BY_DYNAMO = ("rnn",)  # dynamo writes a plain RNN as 64 MatMuls, the older exporter as the RNN operator


def main() -> None:
    """Write every family, and print its size and its difference from PyTorch."""
    for name in NAMES:
        difference = make(name, path(name))
        print(f"{name:12} {path(name).stat().st_size:9,} bytes, max |torch - onnxruntime| {difference:.1e}")


def make(name: str, target: Path) -> float:
    """Write one family's file and return its largest absolute difference from PyTorch.

    Raises ValueError, and leaves `target` as it was, where that difference is above TOLERANCE.
    """
    from neural_cost.models import torch_families

    family: Family = getattr(torch_families, name)()
    draft = target.with_suffix(".onnx.tmp")
    try:
        export(family, draft, dynamo=name not in UNROLLED_BY_DYNAMO)
        drop_stack_traces(draft)
        difference = check(family[0], draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return difference


def export(family: Family, target: Path, *, dynamo: bool) -> None:
    """Export a module with its weights inside the file and its first axis named `batch`."""
    import torch

    module, inputs = family
    if dynamo:
        axes = {"dynamic_shapes": ({0: torch.export.Dim("batch", min=1, max=1024)},), "external_data": False}
    else:
        axes = {"dynamic_axes": {"input": {0: "batch"}, "logits": {0: "batch"}}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations inside the exporter; what it writes is checked
        torch.onnx.export(
            module,
            inputs,
            str(target),
            dynamo=dynamo,
            opset_version=OPSET,
            input_names=["input"],
            output_names=["logits"],
            verbose=False,
            **axes,
        )


def drop_stack_traces(file: Path) -> None:
    """Rewrite a file without the paths of the machine that exported it; name scopes stay on its nodes."""
    import onnx

    model = onnx.load(file)
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if entry.key != STACK_TRACE]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, file)


def check(module: nn.Module, file: Path) -> float:
    """Check a file and return its largest absolute difference from the module over BATCHES."""
    import onnx

    onnx.checker.check_model(file, full_check=True)
    worst = max(difference(module, file, batch) for batch in BATCHES)
    if worst > TOLERANCE:
        raise ValueError(f"{file.name} differs from PyTorch by {worst:.1e}, more than {TOLERANCE:.0e}")
    return worst


def difference(module: nn.Module, file: Path, batch: int) -> float:
    """Run a file in ONNX Runtime and the module in PyTorch; return the largest absolute difference of a logit."""
    import onnxruntime
    import torch

    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    (declared,) = session.get_inputs()
    shape = (batch, *declared.shape[1:])
    data = np.random.default_rng(batch).standard_normal(shape).astype(np.float32)
    with torch.no_grad():
        expected = module(torch.from_numpy(data)).numpy()
    (found,) = session.run(None, {declared.name: data})
    return float(np.abs(found - expected).max())


if __name__ == "__main__":
    main()

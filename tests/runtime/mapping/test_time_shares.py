"""Kernel time at level "all": each second is laid to the nodes of one kernel, and every MAC is in one.

What does nodes of the file, and what is inserted for them, are told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import neural_cost
from neural_cost.models import path
from tests.runtime.mapping import vision_models
from tests.runtime.mapping.test_claims import LIGHT
from tests.runtime.mapping.test_exports import source
from tests.transformer_models import export
from tests.variants import made

ENOUGH = 0.97
# What ONNX Runtime inserts is more than 3 % here: reorders between blocked convolutions and operators that are not
# blocked, transposes around integer convolutions, which want channels last. The least that does nodes of the file:
STRICT = {"shufflenet": 0.80, "densenet121": 0.90, "resnet50 qdq": 0.90}

Files = dict[str, Callable[[Path], Path]]


def light(name: str) -> Callable[[Path], Path]:
    return lambda folder: LIGHT / f"light_{name}.onnx"


def vision(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        model, inputs = getattr(vision_models, name)()
        neural_cost.export(model, inputs, folder / f"{name}.onnx")
        return folder / f"{name}.onnx"

    return make


def quantized(variant: str) -> Callable[[Path], Path]:
    return lambda folder: made(source(LIGHT / "light_resnet50.onnx"), variant, folder).file


QUICK: Files = {
    "squeezenet": light("squeezenet"), "shufflenet": light("shufflenet"),
    "lstm": lambda folder: path("lstm"), "transformer": lambda folder: path("transformer"),
}  # fmt: skip
LONG: Files = {
    "resnet50": light("resnet50"), "densenet121": light("densenet121"),
    "mobilenet": vision("mobilenet"), "unet": vision("unet"),
    "bert": lambda folder: export("bert", folder).file, "gpt2": lambda folder: export("gpt2", folder).file,
    "resnet50 qdq": quantized("qdq"), "resnet50 qoperator": quantized("qoperator"),
    "resnet50 dynamic": quantized("dynamic"),
}  # fmt: skip
DIMS = {"lstm": {"batch": 16}, "transformer": {"batch": 16},
        "bert": {"batch": 4, "steps": 32}, "gpt2": {"batch": 4, "steps": 32}}  # fmt: skip


def each(files: Files) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("name", "make"), files.items(), ids=list(files))


def check(name: str, file: Path) -> None:
    found = neural_cost.profile(file, DIMS.get(name), threads=1, budget_s=1.0)
    owners = Counter(place for kernel in found.kernels if not kernel.joined for place in kernel.source_nodes)
    assert set(owners.values()) == {1}
    assert sum(kernel.macs for kernel in found.kernels) == found.report.totals.macs > 0
    assert all(place in owners for place, node in enumerate(found.report.nodes) if node.macs)
    shares = found.mapping
    assert shares.mac_share == 1.0
    assert shares.unmapped_share == 0.0
    assert shares.time_share + shares.inserted_share == pytest.approx(1.0)
    assert shares.time_share >= STRICT.get(name, ENOUGH)
    assert shares.attributed_share >= ENOUGH
    kernels = {kernel.source_nodes for kernel in found.kernels}
    assert all(kernel.serves in kernels for kernel in found.kernels if kernel.serves)  # the nodes of one, and all
    assert not any(kernel.serves and kernel.source_nodes for kernel in found.kernels)
    groups = [cause.seconds for group in found.module_gaps() for cause in group.causes if cause.cause == "conversion"]
    assert sum(groups) == pytest.approx(found.gap.seconds("conversion"), abs=1e-12)
    assert not any(kernel.joined for kernel in found.kernels)  # each second is of the nodes of one kernel


@each(QUICK)
def test_kernel_time_is_of_nodes(name, make, tmp_path):
    check(name, make(tmp_path))


@pytest.mark.long
@each(LONG)
def test_kernel_time_of_larger_models_is_of_nodes(name, make, tmp_path):
    check(name, make(tmp_path))


def test_what_is_inserted_is_of_no_node():
    """A reorder that one convolution reads is not counted to it: the file asks for none."""
    found = neural_cost.profile(LIGHT / "light_shufflenet.onnx", threads=1, budget_s=0.5)
    reorders = [kernel for kernel in found.kernels if kernel.op_type in ("ReorderInput", "ReorderOutput")]
    moved = [kernel for kernel in reorders if not kernel.source_nodes]
    assert moved
    assert all(kernel.inserted and kernel.macs == 0 for kernel in moved)
    for kernel in reorders:
        assert {found.report.nodes[place].op_type for place in kernel.source_nodes} <= {"Reshape", "Transpose"}
    # before a convolution stands a shuffle: a Reshape, a Transpose and a Reshape, which only views; before an
    # AveragePool the Relu of a unit. What is taken out of blocks was made by one of these two.
    served = [[found.report.nodes[place].op_type for place in kernel.serves] for kernel in moved]
    assert {tuple(each) for each, kernel in zip(served, moved, strict=True) if kernel.op_type == "ReorderInput"} == {
        ("Transpose",),
        ("Relu",),
    }
    outputs = [each for each, kernel in zip(served, moved, strict=True) if kernel.op_type == "ReorderOutput"]
    assert {each[0] for each in outputs} == {"Conv", "AveragePool"}

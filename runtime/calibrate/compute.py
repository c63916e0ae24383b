"""Peak arithmetic: products of two square matrices in ONNX Runtime, by type and size."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from neural_cost.analyzer.calibration import Rate
from neural_cost.analyzer.cost import FLOPS_PER_MAC
from neural_cost.analyzer.errors import BackendError
from neural_cost.runtime.calibrate.models import model_of
from neural_cost.runtime.calibrate.samples import best
from neural_cost.runtime.session import SessionOptions, open_session

# n up to where a call still fits between two interruptions; the largest tells of weights that no cache holds
SIZES = (64, 128, 256, 384, 512, 1024)
TYPES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float64": TensorProto.DOUBLE,
    "int8": TensorProto.INT8,
}


def compute_rates(
    kind: str, threads: int, budget_s: float, sizes: tuple[int, ...] = SIZES, *, waited: Callable[[], object]
) -> Iterator[Rate]:
    """FLOP/s of one type over sizes; `waited` is called where something else had the processor.

    Raises:
        BackendError: ONNX Runtime cannot multiply this type.
    """
    for size in sizes:
        session = open_session(product(kind, size), SessionOptions(threads=threads))
        found = best(session.runner(feeds_of(kind, size)), budget_s / len(sizes))
        if found.waited and threads == 1:
            waited()
        flops = FLOPS_PER_MAC * size**3
        yield Rate(what=kind, threads=threads, size=size, per_s=flops / found.seconds, spread=found.spread)


def why_not(kind: str) -> str | None:
    """Why ONNX Runtime cannot multiply a type; None where it can."""
    try:
        open_session(product(kind, 8), SessionOptions(threads=1))
    except BackendError as error:
        return "ONNX Runtime has no kernel for it here" if "NOT_IMPLEMENTED" in str(error) else str(error)
    return None


def product(kind: str, size: int) -> bytes:
    """A model of one product, whose second factor is a weight, as in a layer."""
    rng = np.random.default_rng(0)
    if kind == "int8":
        weight = numpy_helper.from_array(rng.integers(-99, 99, (size, size), np.int8), "w")
        node = helper.make_node("MatMulInteger", ["x", "w"], ["y"])
        types = TensorProto.UINT8, TensorProto.INT32
    else:
        dtype = helper.tensor_dtype_to_np_dtype(TYPES[kind])
        weight = numpy_helper.from_array(rng.random((size, size), np.float32).astype(dtype), "w")
        node = helper.make_node("MatMul", ["x", "w"], ["y"])
        types = TYPES[kind], TYPES[kind]
    ends = [helper.make_tensor_value_info(n, t, (size, size)) for n, t in zip("xy", types, strict=True)]
    return model_of([node], ends[:1], ends[1:], [weight])


def feeds_of(kind: str, size: int) -> dict[str, np.ndarray]:
    """A first factor for it."""
    rng = np.random.default_rng(1)
    if kind == "int8":
        return {"x": rng.integers(0, 255, (size, size), np.uint8)}
    dtype = helper.tensor_dtype_to_np_dtype(TYPES[kind])
    return {"x": rng.random((size, size), np.float32).astype(dtype)}

"""Peak arithmetic: products of two square matrices in ONNX Runtime, by type and size."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from neural_cost.analyzer.calibration import Rate
from neural_cost.analyzer.cost import FLOPS_PER_MAC
from neural_cost.analyzer.errors import BackendError, ProviderError
from neural_cost.runtime.calibrate.models import model_of
from neural_cost.runtime.calibrate.samples import best
from neural_cost.runtime.session import SessionOptions, call, open_session

# n up to where a call still fits between two interruptions; the largest tells of weights that no cache holds
SIZES = (64, 128, 256, 384, 512, 1024)
# of a device that is started from outside: far larger, until the time of a call is nothing beside that of the product
DEVICE_SIZES = (256, 512, 1024, 2048, 4096, 8192)
SMALLEST = 8  # that tells whether a type can be multiplied
BLOCK = 256
LONGEST_S = 0.1
TYPES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float64": TensorProto.DOUBLE,
    "int8": TensorProto.INT8,
}


def compute_rates(
    kind: str,
    threads: int,
    budget_s: float,
    sizes: tuple[int, ...] = SIZES,
    *,
    waited: Callable[[], object],
    provider: str = "cpu",
) -> Iterator[Rate]:
    """FLOP/s of one type over sizes; `waited` is called where something else had the processor.

    Where a product would take longer than `LONGEST_S` the sizes end: a peak is reached before.

    Raises:
        BackendError: ONNX Runtime cannot multiply this type.
    """
    seconds, before = 0.0, 1
    for size in sizes:
        if seconds * (size / before) ** 3 > LONGEST_S:
            return
        run = _run(kind, size, SessionOptions(provider=provider, threads=threads, alone=True))
        found = best(run, budget_s / len(sizes))
        if found.waited and threads == 1:
            waited()
        seconds, before = found.seconds, size
        flops = FLOPS_PER_MAC * size**3
        yield Rate(what=kind, threads=threads, size=size, per_s=flops / seconds, spread=found.spread)


def why_not(kind: str, provider: str = "cpu") -> str | None:
    """Why ONNX Runtime cannot multiply a type with a provider; None where it can.

    Raises:
        BackendError: the provider itself is not there, or does not start.
    """
    options = SessionOptions(provider=provider, threads=1, alone=True)
    try:
        call(f"a product in {kind}", _run(kind, SMALLEST, options))
    except ProviderError:
        raise
    except BackendError as error:
        missing = any(sign in str(error) for sign in ("NOT_IMPLEMENTED", "assigned to the default CPU"))
        return "ONNX Runtime has no kernel for it here" if missing else str(error)
    return None


def _run(kind: str, size: int, options: SessionOptions) -> Callable[[], object]:
    """A call that multiplies: by a weight on a CPU, which packs it; by an array in its own memory on a device."""
    if options.provider == "cpu":
        return open_session(product(kind, size), options).runner(feeds_of(kind, size))
    return open_session(device_product(kind, size), options).runner(device_feeds(kind, size))


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


def device_product(kind: str, size: int) -> bytes:
    """A model of one product of two inputs: nothing is folded, and no weight passes through the file."""
    element = TYPES[kind]
    names = {"x": element, "w": element, "y": TensorProto.INT32 if kind == "int8" else element}
    ends = [helper.make_tensor_value_info(name, each, (size, size)) for name, each in names.items()]
    node = helper.make_node("MatMulInteger" if kind == "int8" else "MatMul", ["x", "w"], ["y"])
    return model_of([node], ends[:2], ends[2:])


def device_feeds(kind: str, size: int) -> dict[str, np.ndarray]:
    """Both factors: one random block over and over, as nothing but its bits matters to a multiplier."""
    block = min(size, BLOCK)
    rng = np.random.default_rng(0)
    if kind == "int8":
        made = rng.integers(-99, 99, (block, block), np.int8)
    else:
        made = rng.random((block, block), np.float32).astype(helper.tensor_dtype_to_np_dtype(TYPES[kind]))
    whole = np.tile(made, (size // block, size // block))
    return {"x": whole, "w": whole}


def feeds_of(kind: str, size: int) -> dict[str, np.ndarray]:
    """A first factor for it."""
    rng = np.random.default_rng(1)
    if kind == "int8":
        return {"x": rng.integers(0, 255, (size, size), np.uint8)}
    dtype = helper.tensor_dtype_to_np_dtype(TYPES[kind])
    return {"x": rng.random((size, size), np.float32).astype(dtype)}

"""Bandwidth over working sets: sums of two arrays into a third, and products of a row with a matrix.

A sum reads two arrays and writes one; a product of a row with a matrix of weights only reads. The faster of the two at
a size is what a kernel cannot exceed there. Small arrays are summed many times in one call: its own time, taken off
instead, changes by half from one moment to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import perf_counter
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from onnx import TensorProto, helper, numpy_helper

from neural_cost.analyzer.calibration import Rate
from neural_cost.runtime.calibrate.models import model_of
from neural_cost.runtime.calibrate.samples import Best, best
from neural_cost.runtime.session import SessionOptions, open_session

SMALLEST = 64 << 10
LARGEST = 1 << 30
ARRAYS = 3
FLOAT = 4  # bytes
ROUND_BYTES = 4 << 20  # that one call moves of small arrays: then the call itself is no part of the time


def working_sets(last_level_cache: int | None) -> list[int]:
    """Powers of two from 64 KiB to four times the last-level cache, or to 1 GiB where that is not known."""
    end = min(LARGEST, 4 * last_level_cache) if last_level_cache else LARGEST
    sizes = [SMALLEST]
    while sizes[-1] < end:
        sizes.append(2 * sizes[-1])
    return sizes


def bandwidth_rates(sizes: list[int], threads: int, budget_s: float, waited: Callable[[], object]) -> Iterator[Rate]:
    """Bytes/s at each working set."""
    for size in sizes:
        each = budget_s / len(sizes) / 2
        sums = added(size, each) if threads == 1 else _added_by(threads, size, each)
        read = row_read(threads, size, each)
        per_s, spread = max((size / found.seconds, found.spread) for found in (sums, read))
        if sums.waited and threads == 1:
            waited()
        yield Rate(what="bandwidth", threads=threads, size=size, per_s=per_s, spread=spread)


def adder(elements: int, passes: int = 1) -> Callable[[], Any]:
    """A call that sums two arrays of so many floats into a third, so many times over."""
    arrays = [np.ones(elements, np.float32) for _ in range(ARRAYS)]
    if passes > 1:  # rows that all lie in the same place: the loop over them is NumPy's own, and takes no time
        arrays = [as_strided(array, (passes, elements), (0, FLOAT)) for array in arrays]
    one, other, total = arrays
    return lambda: np.add(one, other, out=total)


def added(size: int, budget_s: float) -> Best:
    """Sum two arrays into a third, `size` bytes together."""
    passes = max(1, ROUND_BYTES // size)
    found = best(adder(size // ARRAYS // FLOAT, passes), budget_s)
    return found._replace(seconds=found.seconds / passes)


def row_read(threads: int, size: int, budget_s: float) -> Best:
    """Multiply a row with a matrix of so many bytes."""
    side = int((size / FLOAT) ** 0.5)
    session = open_session(row_product(side), SessionOptions(threads=threads))
    return best(session.runner({"x": np.ones((1, side), np.float32)}), budget_s)


def row_product(side: int) -> bytes:
    """A model that multiplies a row with a square matrix of ones: nearly all that it moves is the matrix.

    ONNX Runtime makes the matrix when it loads the model; inside it, megabytes would be copied several times.
    """
    shape = numpy_helper.from_array(np.array([side, side], np.int64), "shape")
    one = helper.make_tensor("one", TensorProto.FLOAT, (1,), (1.0,))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, side)) for name in "xy"]
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["w"], value=one),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    return model_of(nodes, ends[:1], ends[1:], [shape])


def _added_by(threads: int, size: int, budget_s: float) -> Best:
    """Each thread sums arrays of its own, over and over in one call; a sample is a call of each at once."""
    part = size // threads
    passes = max(1, ROUND_BYTES // part)
    adders = [adder(part // ARRAYS // FLOAT, passes) for _ in range(threads)]
    barrier = Barrier(threads)

    def work(add: Callable[[], Any], until: float) -> list[float]:
        samples = []
        while True:
            barrier.wait()
            start = perf_counter()
            add()
            samples.append((perf_counter() - start) / passes)
            stop = barrier.wait() == 0 and perf_counter() >= until
            flags[0] = flags[0] or stop
            barrier.wait()
            if flags[0]:
                return samples

    flags = [False]
    with ThreadPoolExecutor(threads) as pool:
        until = perf_counter() + budget_s
        found = list(pool.map(lambda add: work(add, until), adders))
    slowest = [max(each) for each in zip(*found, strict=True)]
    shortest = min(slowest)
    return Best(shortest, float(np.median(slowest)) / shortest - 1, False)

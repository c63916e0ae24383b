"""Bandwidth over working sets: sums of two arrays into a third, and products of a row with a matrix.

A sum reads two arrays and writes one; a product of a row with a matrix of weights only reads. The faster of the two at
a size is what a kernel cannot exceed there. The time of a call on 16 elements is taken off: it moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import perf_counter
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from neural_cost.analyzer.calibration import Rate
from neural_cost.runtime.calibrate.models import model_of
from neural_cost.runtime.calibrate.samples import Best, best
from neural_cost.runtime.session import SessionOptions, open_session

SMALLEST = 64 << 10
LARGEST = 1 << 30
ARRAYS = 3
FLOAT = 4  # bytes
ROUND_BYTES = 4 << 20  # that a thread moves before it looks for the others again


def working_sets(last_level_cache: int | None) -> list[int]:
    """Powers of two from 64 KiB to four times the last-level cache, or to 1 GiB where that is not known."""
    end = min(LARGEST, 4 * last_level_cache) if last_level_cache else LARGEST
    sizes = [SMALLEST]
    while sizes[-1] < end:
        sizes.append(2 * sizes[-1])
    return sizes


def bandwidth_rates(sizes: list[int], threads: int, budget_s: float, waited: Callable[[], object]) -> Iterator[Rate]:
    """Bytes/s at each working set."""
    call = best(_adder(16), 0.02).seconds
    for size in sizes:
        each = budget_s / len(sizes) / 2
        added = _added(size, call, each) if threads == 1 else _added_by(threads, size, call, each)
        read = _read(threads, size, each)
        per_s, spread = max((size / found.seconds, found.spread) for found in (added, read))
        if added.waited and threads == 1:
            waited()
        yield Rate(what="bandwidth", threads=threads, size=size, per_s=per_s, spread=spread)


def _adder(elements: int) -> Callable[[], Any]:
    one, other, total = (np.ones(elements, np.float32) for _ in range(ARRAYS))
    return lambda: np.add(one, other, out=total)


def _added(size: int, call: float, budget_s: float) -> Best:
    found = best(_adder(size // ARRAYS // FLOAT), budget_s)
    return found._replace(seconds=max(found.seconds - call, found.seconds / 2))


def _read(threads: int, size: int, budget_s: float) -> Best:
    side = int((size / FLOAT) ** 0.5)
    session = open_session(row_product(side), SessionOptions(threads=threads))
    return best(session.runner({"x": np.ones((1, side), np.float32)}), budget_s)


def row_product(side: int) -> bytes:
    """A model that multiplies a row with a square matrix of weights: nearly all that it moves is the matrix."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, (side, side), np.ones(side**2, np.float32).tobytes(), raw=True)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, side)) for name in "xy"]
    return model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], ends[:1], ends[1:], [weight])


def _added_by(threads: int, size: int, call: float, budget_s: float) -> Best:
    """Each thread adds a part of its own, over and over; a sample is a round of all."""
    part = size // threads
    rounds = max(1, ROUND_BYTES // part)
    adders = [_adder(part // ARRAYS // FLOAT) for _ in range(threads)]
    barrier = Barrier(threads)

    def work(add: Callable[[], Any], until: float) -> list[float]:
        samples = []
        while True:
            barrier.wait()
            start = perf_counter()
            for _ in range(rounds):
                add()
            samples.append((perf_counter() - start) / rounds)
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
    spread = float(np.median(slowest)) / shortest - 1
    return Best(max(shortest - call, shortest / 2), spread, False)

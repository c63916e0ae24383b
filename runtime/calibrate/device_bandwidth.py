"""Bandwidth of a device with memory of its own: sums of arrays that lie there, one after another in one run.

A run is started from the host, which takes longer than a small sum: so each run has many of them. What it takes to
start a kernel is still in the time, and the rates of small working sets are those of starting kernels; a device's curve
never rises, and so has the rate of a larger one there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from onnx import TensorProto, helper

from neural_cost.analyzer.calibration import Rate
from neural_cost.runtime.calibrate.bandwidth import ARRAYS, FLOAT
from neural_cost.runtime.calibrate.models import model_of
from neural_cost.runtime.calibrate.samples import best
from neural_cost.runtime.session import SessionOptions, open_session

DEVICE_SETS = tuple(1 << power for power in range(20, 31))  # 1 MiB to 1 GiB
RUN_BYTES = 4 << 30  # that the sums of one run move, if that takes no more than `MOST` of them
LEAST, MOST = 4, 64


def device_bandwidth_rates(
    provider: str, sizes: list[int], threads: int, budget_s: float, waited: Callable[[], object]
) -> Iterator[Rate]:
    """Bytes/s at each working set: of two arrays that are read and one that is written. `waited` is the CPU's alone."""
    for size in sizes:
        length = sums_of(size)
        elements = size // ARRAYS // FLOAT
        options = SessionOptions(provider=provider, threads=threads, level="disable", alone=True)
        run = open_session(chain_of_sums(elements, length), options)
        feeds = dict.fromkeys(("x0", "step"), np.ones(elements, np.float32))
        found = best(run.runner(feeds), budget_s / len(sizes))
        moved = elements * ARRAYS * FLOAT * length
        yield Rate(what="bandwidth", threads=threads, size=size, per_s=moved / found.seconds, spread=found.spread)


def sums_of(size: int) -> int:
    """How many sums of so many bytes a run has."""
    return max(LEAST, min(MOST, RUN_BYTES // size))


def chain_of_sums(elements: int, length: int) -> bytes:
    """A model that adds an array to another, over and over: each sum reads two arrays and writes one."""
    nodes = [helper.make_node("Add", [f"x{place}", "step"], [f"x{place + 1}"]) for place in range(length)]
    names = "x0", "step", f"x{length}"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (elements,)) for name in names]
    return model_of(nodes, ends[:2], ends[2:])

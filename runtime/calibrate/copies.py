"""Copies between the memory of the host and that of a device, over their size, as ONNX Runtime copies inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from neural_cost.analyzer.calibration import COPIES, Rate
from neural_cost.analyzer.errors import BackendError
from neural_cost.runtime.calibrate.samples import best

COPIED = tuple(1 << power for power in range(20, 29))  # 1 MiB to 256 MiB
TO, FROM = COPIES


def copy_rates(memory: str, sizes: Sequence[int], budget_s: float) -> Iterator[Rate]:
    """Bytes/s to a device and back, from and to ordinary memory of the host, which the system may page out.

    Args:
        memory: what ONNX Runtime calls that of the device; "cpu" copies within the host.
        sizes: bytes of a copy.
        budget_s: seconds for all of it.

    Raises:
        BackendError: the device has no room, or what comes back is not what was sent.
    """
    for size in sizes:
        for what, copy in zip(COPIES, _copies(memory, size), strict=True):
            found = best(copy, budget_s / len(sizes) / len(COPIES))
            yield Rate(what=what, threads=1, size=size, per_s=size / found.seconds, spread=found.spread)


def _copies(memory: str, size: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """A call that copies there, and one that copies back; they were tried, and lose nothing."""
    from onnxruntime import OrtValue

    sent = np.arange(size // 4, dtype=np.int32)
    got = np.zeros_like(sent)
    try:
        held = OrtValue.ortvalue_from_shape_and_type(sent.shape, np.int32, memory, 0)
        held.update_inplace(sent)
        back = _back(held, got)
        arrived = back()
    except Exception as error:  # ONNX Runtime raises many types of its own
        raise BackendError(f"{size:,} bytes cannot be copied to {memory} and back: {error}") from error
    if not np.array_equal(got if arrived is None else arrived, sent):
        raise BackendError(f"{size:,} bytes that were copied to {memory} came back as others")
    return lambda: held.update_inplace(sent), back


def _back(held: Any, got: np.ndarray[Any, Any]) -> Callable[[], Any]:
    """A call that copies back: into an array that is there, where this ONNX Runtime can, as a new one costs time."""
    import onnxruntime

    into = onnxruntime.OrtValue.ortvalue_from_numpy(got)

    def copy() -> None:
        onnxruntime.copy_tensors([held], [into])

    try:
        copy()
    except Exception:  # an older one has no such call; others cannot do it for every device
        return held.numpy  # type: ignore[no-any-return]
    return copy

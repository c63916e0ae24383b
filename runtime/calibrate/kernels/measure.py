"""Measure all kernels on this machine, on one thread and on all: twice, the better of the two counts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from neural_cost.analyzer.errors import BackendError
from neural_cost.analyzer.kernel_rates import KernelPoint, KernelRates
from neural_cost.runtime.calibrate.kernels.irregular import irregular
from neural_cost.runtime.calibrate.kernels.others import (
    controlling,
    elementwise,
    moving,
    normalizing,
    pooling,
    quantizing,
    transforming,
)
from neural_cost.runtime.calibrate.kernels.products import (
    cells,
    packed_convolutions,
    plain_convolutions,
    products,
    quantized_cells,
)
from neural_cost.runtime.calibrate.kernels.spec import Operand, Spec
from neural_cost.runtime.calibrate.models import model_of
from neural_cost.runtime.calibrate.place import usable_threads
from neural_cost.runtime.calibrate.samples import Best, best
from neural_cost.runtime.detect import detect_cpu
from neural_cost.runtime.session import SessionOptions, call, open_session

PASSES = 2
EACH_S = 0.004  # of a kernel in a pass; at least five samples are taken
SIDE, ROWS = 512, 16  # of the products whose weights are cold
MOST_COLD = 256 << 20  # bytes
REPEATED = 8  # products whose weights stay in the caches


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPlan:
    """How much to measure; the default takes about 40 seconds.

    Attributes:
        kinds: those that are timed; None stands for all.
        cache_bytes: of the last cache; by default that of this machine.
    """

    passes: int = PASSES
    each_s: float = EACH_S
    kinds: frozenset[str] | None = None
    cache_bytes: int | None = None


def kernel_rates(plan: KernelPlan | None = None, progress: Callable[[str], object] | None = None) -> KernelRates:
    """Time every kernel by itself. What else runs on the machine makes it slower: the notes say where that was seen."""
    plan, tell = plan or KernelPlan(), progress or (lambda stage: None)
    info = detect_cpu()
    cache = plan.cache_bytes or info.caches.get("L3") or info.caches.get("L2") or MOST_COLD // 2
    block = nchwc_block()
    left_out: dict[str, str] = {}
    found: dict[tuple[str, int, tuple[int, ...]], Best] = {}
    counts = sorted({1, usable_threads(info)})
    run_s = dict.fromkeys(counts, float("inf"))
    waits = 0
    for number in range(plan.passes):
        for count in counts:
            run_s[count] = min(run_s[count], _run_seconds(count))
            for spec in _specs(block, plan.kinds):
                tell(f"kernels, {count} threads, pass {number + 1} of {plan.passes}: {spec.kind}")
                if spec.kind not in left_out:
                    waits += _time(spec, count, plan.each_s, found, left_out)
    points = tuple(_points(found, run_s, _copies(_specs(block, plan.kinds))))
    return KernelRates(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        versions={name: version(name) for name in ("onnxruntime", "numpy", "neural-cost")},
        points=points,
        run_s=run_s,
        nchwc_block=block,
        cold={count: _cold_seconds(count, cache) for count in counts},
        cache_bytes=cache,
        left_out=left_out,
        notes=tuple(_notes(waits, len(points) * plan.passes)),
    )


def nchwc_block() -> int:
    """Channels that ONNX Runtime packs together on this machine; 0 where it does not.

    A convolution of fewer input channels than that reads the file's own layout, so no reorder stands before it.
    """
    for block in (8, 16):
        if (layout := _rewritten(block)) is None:
            return 0
        if "ReorderInput" in layout:
            return block
    return 0


def _rewritten(channels: int) -> list[str] | None:
    """Operators that a convolution of so many channels becomes; None where its layout stays."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, channels, 4, 4)) for name in "xy"]
    weights = np.ones((channels, channels, 1, 1), np.float32)
    weight = helper.make_tensor("w", TensorProto.FLOAT, weights.shape, weights.tobytes(), raw=True)
    model = model_of([helper.make_node("Conv", ["x", "w"], ["y"])], ends[:1], ends[1:], [weight])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rewritten.onnx"
        open_session(model, SessionOptions(threads=1), optimized=file)
        nodes = onnx.load(file, load_external_data=False).graph.node
    return [node.op_type for node in nodes] if any("nchwc" in node.domain for node in nodes) else None


def _specs(block: int, kinds: frozenset[str] | None) -> Iterator[Spec]:
    groups: Iterable[Iterator[Spec]] = (
        products(), packed_convolutions(block), plain_convolutions(), cells(), elementwise(), normalizing(), moving(),
        irregular(), pooling(block), quantizing(), quantized_cells(), transforming(), controlling(),
    )  # fmt: skip
    return (spec for spec in chain(*groups) if kinds is None or spec.kind in kinds)


def _copies(specs: Iterable[Spec]) -> dict[tuple[str, tuple[int, ...]], int]:
    return {(spec.kind, spec.sizes): spec.copies for spec in specs}


def _time(
    spec: Spec,
    threads: int,
    budget_s: float,
    found: dict[tuple[str, int, tuple[int, ...]], Best],
    left_out: dict[str, str],
) -> bool:
    """Time one kernel, and keep the better of what there is; whether something else had the processor."""
    key = (spec.kind, threads, spec.sizes)
    try:
        session = open_session(spec.model(), SessionOptions(threads=threads, level="disable"))
        timed: Best = call(spec.kind, lambda: best(session.runner(spec.feeds()), budget_s))
    except BackendError as error:
        left_out[spec.kind] = "ONNX Runtime has no kernel for it here" if "NOT_IMPL" in str(error) else str(error)
        return False
    if key not in found or timed.seconds < found[key].seconds:
        found[key] = timed
    return timed.waited and threads == 1


def _points(
    found: dict[tuple[str, int, tuple[int, ...]], Best],
    run_s: dict[int, float],
    copies: dict[tuple[str, tuple[int, ...]], int],
) -> Iterator[KernelPoint]:
    for (kind, threads, sizes), timed in found.items():
        net = (timed.seconds - run_s[threads]) / copies[kind, sizes]
        seconds = max(net, timed.seconds / copies[kind, sizes] / 10)
        yield KernelPoint(kind=kind, threads=threads, sizes=sizes, seconds=seconds, spread=timed.spread)


def _run_seconds(threads: int) -> float:
    """Seconds of a run that has one kernel, which does nothing."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1,)) for name in "xy"]
    model = model_of([helper.make_node("Neg", ["x"], ["y"])], ends[:1], ends[1:])
    session = open_session(model, SessionOptions(threads=threads, level="disable"))
    return best(session.runner({"x": np.ones(1, np.float32)}), 0.1).seconds


def _cold_seconds(threads: int, cache: int) -> float:
    """Seconds by which a byte of weights takes longer where the weights of others have driven it out of the caches."""
    size = 4 * SIDE**2
    many = min(MOST_COLD, 2 * cache) // size
    warm, cold = (_products_seconds(count, threads) for count in (REPEATED, max(REPEATED + 1, many)))
    return max(0.0, cold - warm) / size


def _products_seconds(count: int, threads: int) -> float:
    """Seconds of each of so many products with weights of their own."""
    spec = Spec("cold", (count,), "MatMul", [Operand((ROWS, SIDE)), Operand((SIDE, SIDE), constant=True)])
    session = open_session(spec.model(count), SessionOptions(threads=threads, level="disable"))
    return best(session.runner(spec.feeds()), 0.3).seconds / count


def _notes(waits: int, timed: int) -> Sequence[str]:
    if waits * 20 < timed:
        return []
    return [f"the machine was loaded: something else had the processor in {waits} of {timed} measurements of kernels"]

"""Kernel tables whose times are round, and reports on a device that has one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import neural_cost
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.kernel_rates import Curve, KernelTable
from tests.analyzer.gap.made import ROUND, analyzed

US = 1e-6


def table(times: Mapping[str, Mapping[tuple[int, ...], float]], **more: float) -> KernelTable:
    """Kinds with microseconds at their sizes; each must be a whole grid."""
    curves = {}
    for kind, points in times.items():
        axes = tuple(tuple(sorted(set(axis))) for axis in zip(*points, strict=True))
        curves[kind] = Curve(axes, {sizes: US * time for sizes, time in points.items()})
    given = {"run_s": 0.0, "nchwc_block": 0, "cold_s": 0.0, "cache_bytes": 1 << 40, **more}
    return KernelTable(threads=1, curves=curves, date="2026-01-01T00:00:00+00:00", **given)


def device(times: Mapping[str, Mapping[tuple[int, ...], float]], **more: float) -> Device:
    """A device of 1 GFLOP/s and 1 GB/s whose kernels take these times."""
    return Device(**ROUND, peaks={"float32": 1e9}, bandwidth_curve=((0, 1e9),), kernels=table(times, **more))


def predicted(text: str, folder: Path, times: Mapping[str, Mapping[tuple[int, ...], float]], **more: float):
    """The prediction of a graph."""
    return neural_cost.predict(analyzed(text, folder), device(times, **more))

"""Prediction: how long a run will take, kernel by kernel, without running it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from neural_cost.analyzer.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedKernel(Record):
    """A kernel that will run.

    Attributes:
        op_type: as the runtime will call it, as far as that is foreseen.
        source_nodes: places in the report's list of nodes; empty for what the runtime inserts.
        seconds: of all its executions in one run; None where its cost, or how often it runs, is not known.
        kinds: of kernels that were timed and that it is taken to be made of.
        how: "timed", or "far" where its sizes lie far outside of those that were timed, or "guess" where it is only
            like a kernel that was timed.
    """

    op_type: str
    source_nodes: tuple[int, ...]
    seconds: float | None
    kinds: tuple[str, ...]
    how: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        lists = {"source_nodes": list(self.source_nodes), "kinds": list(self.kinds)}
        return {name: getattr(self, name) for name in self.__slots__} | lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction(Record):
    """The time that a run is expected to take on a calibrated machine.

    Attributes:
        device: whose kernels were timed.
        threads: that they were timed with.
        date: when.
        seconds: of one run: all kernels of known cost, the memory that weights come from, and the start of a run.
        complete: no kernel is left out; where it is False, the time is at least this.
        expected_error: as a part of the time, from how each kernel's time was found; None where it is not complete.
        start_s: of a run besides its kernels, counted in.
        cold_s: for weights that do not stay in the caches from run to run, counted in.
        kernels: in the order in which they will run.
        notes: what makes it doubtful.
    """

    device: str
    threads: int
    date: str
    seconds: float
    complete: bool
    expected_error: float | None
    start_s: float
    cold_s: float
    kernels: Sequence[PredictedKernel]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        lists = {"kernels": [kernel.to_dict() for kernel in self.kernels], "notes": list(self.notes)}
        return {name: getattr(self, name) for name in self.__slots__} | lists

    @property
    def inserted_s(self) -> float:
        """Seconds of kernels that the file does not ask for."""
        return sum(kernel.seconds or 0.0 for kernel in self.kernels if not kernel.source_nodes)

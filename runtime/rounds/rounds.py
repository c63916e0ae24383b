"""Rounds: every backend once, in turn, over and over; so that what slows the machine slows them all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from neural_cost.analyzer.errors import BackendError
from neural_cost.runtime.inputs import Array
from neural_cost.runtime.rounds.arrays import read_arrays
from neural_cost.runtime.rounds.process import Process, log_of
from neural_cost.runtime.rounds.worker import Order, Started

LEAST_ROUNDS, MOST_ROUNDS = 8, 200
CASE_ROUNDS = 5  # at sizes beside the first
PRECISION = 0.01  # of the ratio to the reference, on each side, at which there are rounds enough


@dataclass
class Run:
    """What became of one backend.

    Attributes:
        rounds: samples of each round, at the first sizes; empty rounds are those it was not there for.
        others: the same at the other sizes.
        arrays: its results.
        cpu_share: CPU seconds for each second of the samples.
        notes: what a user should know of how it runs.
    """

    name: str
    framework: str
    error: str | None = None
    started: Started | None = None
    rounds: list[list[float]] = field(default_factory=list)
    others: dict[int, list[float]] = field(default_factory=dict)
    memory: int | None = None
    arrays: list[Array] | None = None
    cpu_share: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def samples(self) -> list[float]:
        """All samples."""
        return [sample for each in self.rounds for sample in each]

    @property
    def medians(self) -> list[float]:
        """One for each round: samples of one round are too alike for the interval of a median."""
        return [median(each) for each in self.rounds if each]


@dataclass(frozen=True)
class Plan:
    """How much to measure.

    Attributes:
        budget_s: seconds for all rounds together.
        timeout_s: seconds that one backend may take for one answer: its first call may compile.
        others: inputs of other batch sizes, by size.
    """

    budget_s: float = 10.0
    timeout_s: float = 300.0
    others: Mapping[int, Path] = field(default_factory=dict)


def take_turns(
    orders: Sequence[Order], feeds: Path, plan: Plan, folder: Path, tell: Callable[[str], object]
) -> tuple[list[Run], bool]:
    """Start each backend in a process of its own, and time them in turns.

    Returns:
        what became of each, and whether the user interrupted: what was measured until then is kept.
    """
    runs = [Run(order.backend.name, order.backend.framework) for order in orders]
    processes: dict[int, Process] = {}
    interrupted = False
    try:
        for place, order in enumerate(orders):
            tell(f"starting {runs[place].name}")
            try:
                processes[place] = _start(order, plan)
            except BackendError as error:
                runs[place].error = str(error)
            _ask(runs, processes, place, "start", feeds)
        _all_rounds(runs, processes, plan, tell)
        _results(runs, processes, folder)
        for size, file in plan.others.items():
            tell(f"batch of {size}")
            _other(runs, processes, size, file)
    except KeyboardInterrupt:
        interrupted = True
        _settle(runs, processes)
        _results(runs, processes, folder)
    finally:
        for process in processes.values():
            process.close()
    return runs, interrupted


def _start(order: Order, plan: Plan) -> Process:
    why = order.backend.missing()
    if why is not None:
        raise BackendError(f"not installed: {why}")
    return Process(order, plan.timeout_s)


def _ask(runs: Sequence[Run], processes: dict[int, Process], place: int, name: str, *arguments: object) -> Any:
    """What a backend answers; one that fails is out from then on."""
    if place not in processes:
        return None
    try:
        found = processes[place].ask(name, *arguments)
    except BackendError as error:
        runs[place].error = str(error)
        del processes[place]
        return None
    if isinstance(found, Started) and runs[place].started is None:
        runs[place].started = found
        runs[place].notes = found.notes
    return found


def _all_rounds(runs: Sequence[Run], processes: dict[int, Process], plan: Plan, tell: Callable[[str], object]) -> None:
    end = time.perf_counter() + plan.budget_s
    for number in range(MOST_ROUNDS):
        tell(f"round {number + 1}")
        places = sorted(processes, reverse=bool(number % 2))
        for place in places:
            found = _ask(runs, processes, place, "sample")
            runs[place].rounds.append(found if isinstance(found, list) else [])
        if number + 1 >= LEAST_ROUNDS and time.perf_counter() > end:
            return


def _other(runs: Sequence[Run], processes: dict[int, Process], size: int, file: Path) -> None:
    for place in sorted(processes):
        if _ask(runs, processes, place, "start", file) is not None:
            runs[place].others[size] = []
    for _ in range(CASE_ROUNDS):
        for place in sorted(processes):
            found = _ask(runs, processes, place, "sample")
            if isinstance(found, list):
                runs[place].others[size].append(median(found))


def _settle(runs: Sequence[Run], processes: dict[int, Process]) -> None:
    """Leave out the backends that are at something long: one that compiles, for one."""
    for place in sorted(processes):
        if processes[place].busy:
            try:
                processes[place].settle()
            except BackendError as error:
                runs[place].error = str(error)
                del processes[place]


def _results(runs: Sequence[Run], processes: dict[int, Process], folder: Path) -> None:
    for place in sorted(processes):
        file = folder / f"{place}.npz"
        memory = _ask(runs, processes, place, "memory")
        runs[place].memory = memory if isinstance(memory, int) else None
        runs[place].cpu_share = _ask(runs, processes, place, "cpu_share")
        if place in processes and runs[place].started is not None:
            _ask(runs, processes, place, "outputs", file)
            runs[place].arrays = list(read_arrays(file).values()) if file.exists() else None


def order_of(folder: Path, **fields: object) -> Order:
    """An order with a log of its own in a folder."""
    backend = fields["backend"]
    return Order(log=log_of(folder, backend.name), **fields)  # type: ignore[arg-type,attr-defined]

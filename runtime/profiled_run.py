"""Runs under ONNX Runtime's profiler: in this process, or in one of its own where a device works by itself.

ONNX Runtime's profile has the time of a call, and a GPU's kernel goes on after its call returned: the profile would
tell how long it takes to start kernels. Drivers can let each call wait for its kernel, by a variable that they read
once, when a process first uses them: so such a profile needs a process of its own.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from neural_cost.analyzer.environment import environment
from neural_cost.analyzer.errors import BackendError
from neural_cost.runtime.inputs import Array
from neural_cost.runtime.providers import BLOCKING, provider_name
from neural_cost.runtime.rounds.process import without_main
from neural_cost.runtime.session import SessionOptions, open_session


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledRun:
    """What is run: it must survive pickling.

    Attributes:
        model, options, folder: as of `open_session`.
        feeds: arrays by the names of inputs.
        scratch: where the profile is written, and the graph after its rewrites as `optimized.onnx`, if it can be.
        warmup: runs of which one more is needed before an interruption leaves something.
        runs: all of them.
    """

    model: Path | bytes
    options: SessionOptions
    folder: Path | None
    feeds: Mapping[str, Array]
    scratch: Path
    warmup: int
    runs: int

    @property
    def optimized(self) -> Path:
        """The graph that ran; it is not there where a provider compiles parts of it."""
        return self.scratch / "optimized.onnx"


def profiled_run(order: ProfiledRun) -> tuple[Path, bool]:
    """Run it; returns the profile, and whether it ran as often as it should.

    Raises:
        BackendError: it does not load or run.
    """
    variable = BLOCKING.get(provider_name(order.options.provider))
    if variable is None:
        return _here(order)
    with environment({variable: "1"}), without_main():
        context = get_context("spawn")
        mine, its = context.Pipe(duplex=False)
        process = context.Process(target=_apart, args=(order, its), daemon=True)
        process.start()
    its.close()
    try:
        what, found = mine.recv()
    except EOFError:
        process.join()
        raise BackendError(f"the process of the profile ended with code {process.exitcode}.") from None
    finally:
        process.kill()
    if what == "failed":
        raise BackendError(found)
    return Path(found), True


def run_often(run: Callable[[], object], times: int, warmup: int) -> bool:
    """Run so often, or until Ctrl-C, as soon as one run counts; whether all of them ran."""
    for done in range(times):
        try:
            run()
        except KeyboardInterrupt:
            if done <= warmup:
                raise
            return False
    return True


def _here(order: ProfiledRun) -> tuple[Path, bool]:
    profile, optimized = order.scratch / "profile", order.optimized
    try:
        session = open_session(order.model, order.options, folder=order.folder, profile=profile, optimized=optimized)
    except BackendError:  # a provider that compiles parts of the graph cannot save it
        session = open_session(order.model, order.options, folder=order.folder, profile=profile)
    whole = run_often(session.runner(order.feeds), order.runs, order.warmup)
    return Path(session.handle.end_profiling()), whole


def _apart(order: ProfiledRun, parent: Connection) -> None:
    """Ctrl-C is the parent's to handle: it ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        parent.send(("done", str(_here(order)[0])))
    except BaseException as error:
        with suppress(OSError):
            said = " ".join(str(error).split())[:300]
            parent.send(("failed", said if isinstance(error, BackendError) else f"{type(error).__name__}: {said}"))

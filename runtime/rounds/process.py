"""The process of a backend, as its parent sees it: it may fail, crash or hang, and only that is then reported."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from neural_cost.analyzer.environment import environment
from neural_cost.analyzer.errors import BackendError
from neural_cost.runtime.rounds.worker import Order, variables, work

POLL_S = 0.02
PATIENCE_S = 3.0  # for a process to end by itself


class Process:
    """A backend at work."""

    def __init__(self, order: Order, timeout_s: float) -> None:
        """Start it.

        Raises:
            BackendError: the model cannot be handed over, or the process fails before it is ready.
        """
        self.name, self.log, self.timeout_s = order.backend.name, order.log, timeout_s
        self._asked = 0  # requests so far: each answer says which one it is to
        self._answered = 0
        context = get_context("spawn")  # a copy of this process would share the state of its threads
        self._mine, its = context.Pipe()
        self._process = context.Process(target=work, args=(order, its), daemon=True)
        try:
            with environment(variables(order)), without_main():
                self._process.start()
        except Exception as error:
            raise BackendError(
                f"the model cannot be handed to a process of its own ({type(error).__name__}: {error}): "
                "give a target such as module:factory, define it in a module, or install cloudpickle."
            ) from error
        its.close()
        self._answer(timeout_s)

    @property
    def busy(self) -> bool:
        """Whether it owes an answer: it was interrupted while it was asked."""
        return self._answered < self._asked

    def ask(self, name: str, *arguments: Any) -> Any:
        """Have it do something.

        Raises:
            BackendError: it failed, crashed, or took longer than it may; it is over then.
        """
        self._asked += 1
        try:
            self._mine.send((self._asked, name, arguments))
        except OSError:
            raise BackendError(self._end()) from None
        return self._answer(self.timeout_s)

    def settle(self) -> None:
        """Wait a little for the answer that it owes.

        Raises:
            BackendError: it has not got so far; it is over then.
        """
        try:
            self._answer(PATIENCE_S)
        except BackendError:
            self._kill()
            raise BackendError("it had no answer yet when it was interrupted") from None

    def close(self) -> None:
        """End it: it may put things away, but not take long."""
        self._mine.close()  # which it takes for the end
        self._process.join(PATIENCE_S)
        self._kill()

    def _kill(self) -> None:
        """End it at once, and whatever it started: a compiler, for one."""
        if hasattr(os, "killpg") and self._process.pid is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join(1)

    def _answer(self, timeout_s: float) -> Any:
        """The answer to what was asked last; of one that was interrupted, the answers before it are dropped."""
        while True:
            number, what, found = self._next(timeout_s)
            self._answered = number
            if what == "failed":
                self.close()
                raise BackendError(found)
            if number == self._asked:
                return found

    def _next(self, timeout_s: float) -> tuple[int, str, Any]:
        waited = 0.0
        while not self._mine.poll(POLL_S):
            waited += POLL_S
            if not self._process.is_alive() and not self._mine.poll(0):
                raise BackendError(self._end())
            if waited >= timeout_s:
                self._kill()
                self.close()
                raise BackendError(f"it did not answer for {timeout_s:g} s and was ended")
        try:
            found: tuple[int, str, Any] = self._mine.recv()
        except (EOFError, OSError):
            raise BackendError(self._end()) from None
        return found

    def _end(self) -> str:
        """How it ended, and the last that it said."""
        self._process.join(1)
        code = self._process.exitcode
        said = ""
        with suppress(OSError):
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            said = f": {lines[-1][:200]}" if lines else ""
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"
        self.close()
        return f"its process {how}{said}"


@contextmanager
def without_main() -> Iterator[None]:
    """Hide the script that was started: a new process would run it again, and compare once more."""
    main = sys.modules["__main__"]
    before = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
    for name in before:
        setattr(main, name, None)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(main, name, value)


def log_of(folder: Path, name: str) -> Path:
    """Where a backend's output goes."""
    return folder / ("".join(each if each.isalnum() else "_" for each in name) + ".log")

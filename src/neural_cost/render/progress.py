"""Progress on stderr, for work that takes a while."""

from __future__ import annotations

import os
import sys
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

QUICK_S = 1.0  # who waits no longer need not be told


class Progress:
    """Says what is being done, once it takes longer than `QUICK_S`, where stderr is a terminal.

    Call it with each stage. What is quick costs a timer, and leaves no trace. Where `NO_COLOR` is set, or the terminal
    cannot move its cursor, each stage is a line of its own, without a spinner.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._stream = sys.stderr  # exporters redirect it while they work
        self._wanted = not quiet and sys.stderr.isatty()
        self._plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "") in ("dumb", "unknown")
        self._shown = False
        self._stage = ""
        self._status: Status | None = None
        self._over = False
        self._lock = Lock()
        self._timer = Timer(QUICK_S, self._show)
        self._timer.daemon = True

    def __call__(self, stage: str) -> None:
        """Go on to the next stage."""
        with self._lock:
            self._stage = stage
            if self._status is not None:
                self._status.update(stage)
            elif self._shown and not self._over:
                self._line()

    def __enter__(self) -> Progress:
        if self._wanted:
            self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._status is not None:
                self._status.stop()

    def _line(self) -> None:
        if self._stage:
            print(f"{self._stage} ...", file=self._stream, flush=True)

    def _show(self) -> None:
        from rich.console import Console

        with self._lock:
            if self._over:
                return
            self._shown = True
            if self._plain:
                self._line()
            else:
                self._status = Console(file=self._stream).status(self._stage)
                self._status.start()


def say_warnings() -> None:
    """Have what this program warns of said as one line on stderr; Python shows such warnings to developers alone."""
    import warnings

    def show(message: Warning | str, *_: object, **__: object) -> None:
        print(f"warning: {message}", file=sys.stderr)

    warnings.showwarning = show
    warnings.filterwarnings("always", category=ResourceWarning, module="neural_cost")

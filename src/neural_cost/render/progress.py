"""Progress on stderr, for work that takes a while."""

from __future__ import annotations

import sys
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

QUICK_S = 1.0  # who waits no longer need not be told


class Progress:
    """Says what is being done, once it takes longer than `QUICK_S`, where stderr is a terminal.

    Call it with each stage. What is quick costs a timer, and leaves no trace.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._stream = sys.stderr  # exporters redirect it while they work
        self._wanted = not quiet and sys.stderr.isatty()
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

    def _show(self) -> None:
        from rich.console import Console

        with self._lock:
            if not self._over:
                self._status = Console(file=self._stream).status(self._stage)
                self._status.start()


def say_warnings() -> None:
    """Have what this program warns of said as one line on stderr; Python shows such warnings to developers alone."""
    import warnings

    def show(message: Warning | str, *_: object, **__: object) -> None:
        print(f"warning: {message}", file=sys.stderr)

    warnings.showwarning = show
    warnings.filterwarnings("always", category=ResourceWarning, module="neural_cost")

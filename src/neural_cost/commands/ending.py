"""How a command ends: exit codes, and a user's mistake in one sentence on stderr."""

from __future__ import annotations

import atexit
import gc
import signal
import sys
import threading
from typing import NoReturn

import typer

INTERRUPTED = 130  # exit code after Ctrl-C: what a shell reports
SIGNALLED = 128  # the same of other signals, whose number is added
ENDING = ("SIGTERM", "SIGHUP")  # what else asks a program to end; Windows has no SIGHUP


def run(app: typer.Typer) -> None:
    """Run a command; what escapes that is not meant for the user is a fault of this program, and is said to be."""
    from neural_cost.analyzer.errors import NeuralCostError

    _tidy_when_asked_to_end()
    atexit.register(gc.freeze)  # else the interpreter searches all modules for garbage before it ends: 0.1 s
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except NeuralCostError as error:
        fail(str(error), error.exit_code)
    except Exception as error:
        fail(f"neural-cost failed ({error!r}): this is its own fault, please report it with what --debug adds.", 3)


def fail(message: str, code: int) -> NoReturn:
    """End with one sentence; --debug adds the traceback."""
    if "--debug" in sys.argv:
        import traceback

        traceback.print_exc()
    typer.echo(message, err=True)
    sys.exit(code)


def _tidy_when_asked_to_end() -> None:
    """Let a signal to end unwind what runs, as Ctrl-C does, so that nothing half-written stays."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (getattr(signal, name) for name in ENDING if hasattr(signal, name)):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup has SIGHUP ignored
            signal.signal(number, lambda got, _: sys.exit(SIGNALLED + got))

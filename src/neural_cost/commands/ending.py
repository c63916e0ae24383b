"""How a command ends: exit codes, and a user's mistake in one sentence on stderr."""

from __future__ import annotations

import atexit
import gc
import sys
from typing import NoReturn

import typer

INTERRUPTED = 130  # exit code after Ctrl-C: what a shell reports


def run(app: typer.Typer) -> None:
    """Run a command; what escapes that is not meant for the user is a fault of this program, and is said to be."""
    from neural_cost.analyzer.errors import NeuralCostError

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

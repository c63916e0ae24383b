"""Where a result goes: stdout, or a file that is either whole or not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import typer


def write(text: str, output: Path | None) -> None:
    """Print, or write to a temporary file that then takes the name; exit code 2 where that is not possible."""
    if output is None:
        typer.echo(text)
        return
    try:
        _replace(text + "\n", output)
    except OSError as error:
        typer.echo(f"{output} cannot be written ({error.strerror}); give another --output.", err=True)
        raise typer.Exit(2) from error


def _replace(text: str, output: Path) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=output.parent, prefix=output.name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(output)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """What this process takes from the mode of a new file; mkstemp lets nobody else read it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

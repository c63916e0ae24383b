"""Where a result goes: stdout, or a file that is either whole or not there."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import typer

BROKEN_PIPE = 141  # what a shell reports of a program that wrote to a pipe nobody reads


def check(output: Path | None, *sources: Path | None, option: str = "--output") -> None:
    """Refuse a file that cannot be written, or that the result is made from, before any work: exit code 2."""
    why = None if output is None else _why_not(output, [source for source in sources if source is not None])
    if why:
        typer.echo(f"{output} cannot be written: {why}; give another {option}.", err=True)
        raise typer.Exit(2)


def write(text: str, output: Path | None, *, option: str = "--output") -> None:
    """Print, or write to a file; exit code 2 where that is not possible."""
    if output is None:
        _print(text)
    else:
        write_bytes((text + "\n").encode(), output, option)


def write_bytes(content: bytes, output: Path, option: str) -> None:
    """Write to a temporary file that then takes the name; exit code 2 where that is not possible."""
    try:
        replace(content, output.resolve())
    except OSError as error:
        typer.echo(f"{output} cannot be written ({error.strerror}); give another {option}.", err=True)
        raise typer.Exit(2) from error


def replace(content: bytes, output: Path) -> None:
    """Write to a temporary file that then takes the name: the file is whole or as it was. Raises OSError."""
    if output.exists() and not output.is_file():  # a device or a pipe has no content to replace
        output.write_bytes(content)
        return
    descriptor, temporary = tempfile.mkstemp(dir=output.parent, prefix=output.name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).chmod(output.stat().st_mode & 0o7777 if output.exists() else 0o666 & ~_umask())
        Path(temporary).replace(output)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def colour_wanted(output: Path | None) -> bool:
    """Whether the result goes to a terminal and `NO_COLOR` is not set."""
    return output is None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _why_not(output: Path, sources: list[Path]) -> str | None:
    if str(output) == "-":
        return "it is no name of a file"
    if output.is_dir():
        return "it is a folder"
    if not output.parent.is_dir():
        return f"the folder {output.parent} does not exist"
    if not os.access(output if output.exists() else output.parent, os.W_OK):
        return "it is read-only" if output.exists() else f"the folder {output.parent} is read-only"
    if any(output.exists() and source.exists() and output.samefile(source) for source in sources):
        return "the result is made from it"
    return None


def _print(text: str) -> None:
    """Print; who closes the pipe has seen enough."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        typer.echo(text.encode(encoding, "backslashreplace").decode(encoding))
    except BrokenPipeError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the exit flushes once more
        raise typer.Exit(BROKEN_PIPE) from error


def _umask() -> int:
    """What this process takes from the mode of a new file; mkstemp lets nobody else read it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

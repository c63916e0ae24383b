"""What users write after options, read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import typer

Value = TypeVar("Value")


class Sizes(NamedTuple):
    """Sizes that a user gives where the graph does not tell."""

    dims: dict[str, int]
    shapes: dict[str, list[int]]
    trips: dict[str, int]


def dims_of(texts: Sequence[str] | None) -> dict[str, int]:
    """Sizes by name, of NAME=SIZE."""
    return _once("--dim", ((name, _size(name, size)) for name, size in map(_split, texts or [])))


def shapes_of(texts: Sequence[str] | None) -> dict[str, list[int]]:
    """Shapes by input, of INPUT=8x3x224x224."""
    pairs = map(_split, texts or [])
    return _once("--shape", ((name, _shape(name, sizes)) for name, sizes in pairs))


def trips_of(texts: Sequence[str] | None) -> dict[str, int]:
    """Trip counts by node, of LOOP=N."""
    return _once("--trips", ((name, _trips(name, count)) for name, count in map(_split, texts or [])))


def batches_of(text: str | None) -> list[int]:
    """Sizes of batch, of 1,8,32."""
    sizes = [] if text is None else text.split(",")
    if not all(size.isascii() and size.isdigit() and int(size) for size in sizes):
        raise typer.BadParameter(f'--batch "{text}" is not of the form 1,8,32.')
    return list(dict.fromkeys(map(int, sizes)))


def device_of(names: Sequence[str] | None) -> str | None:
    """The device that is named; another one would go unheard."""
    if names and len(set(names)) > 1:
        raise typer.BadParameter(f"--device is given as {' and as '.join(names)}: a run bounds the time on one.")
    name = names[0] if names else None
    if name is not None and name.strip().lower() == "cpu":
        raise typer.BadParameter("this machine's CPU is the device when --device is left out.")
    return name


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise typer.BadParameter(f'"{text}" is not of the form NAME=SIZE.')
    return name, value


def _shape(name: str, text: str) -> list[int]:
    if not all(part.isascii() and part.isdigit() for part in text.split("x")):
        raise typer.BadParameter(f'the shape of "{name}" cannot be "{text}": it is sizes joined by x, as 8x3x224x224.')
    return [int(part) for part in text.split("x")]


def _once(option: str, pairs: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """What was given by name. An option that stands twice may repeat itself, not contradict itself."""
    found: dict[str, Value] = {}
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            raise typer.BadParameter(
                f'{option} gives "{name}" as {_written(found[name])} and as {_written(value)}: give it once.'
            )
    return found


def _written(value: object) -> str:
    return "x".join(map(str, value)) if isinstance(value, list) else str(value)


def _trips(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise typer.BadParameter(f'"{name}" cannot run {text} times: trips are a whole number.')
    return int(text)


def _size(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise typer.BadParameter(f'"{name}" cannot be {text}: a size is a whole number from 0 up.')
    return int(text)

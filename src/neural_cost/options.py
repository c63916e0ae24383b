"""What users write after options, and which options fit each other."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import typer

from neural_cost.analyzer.errors import closest
from neural_cost.analyzer.tables.view import By, View
from neural_cost.analyzer.training.options import TrainingOptions

Value = TypeVar("Value")


DimOption = Annotated[list[str] | None, typer.Option(help="NAME=SIZE or INPUT:AXIS=SIZE; repeatable.")]
ShapeOption = Annotated[list[str] | None, typer.Option(help="INPUT=8x3x224x224; repeatable.")]
TripsOption = Annotated[list[str] | None, typer.Option(help="LOOP=N: how often a Loop's body runs; repeatable.")]
DeviceOption = Annotated[list[str] | None, typer.Option(help="Device to bound the time on; by default this CPU.")]


class Sizes(NamedTuple):
    """Sizes that a user gives where the graph does not tell."""

    dims: dict[str, int]
    shapes: dict[str, list[int]]
    trips: dict[str, int]


def choice(kind: type[StrEnum], help_: str, *names: str) -> Any:
    """An option that is one of an enumeration; typer's own says what its validator says."""

    def chosen(text: str) -> StrEnum:
        try:
            return kind(text)
        except ValueError as error:
            meant = closest(text, kind)
            known = ", ".join(kind)
            raise typer.BadParameter(f'"{text}" is none of them{meant}: choose one of {known}.') from error

    return typer.Option(*names, help=help_, parser=chosen, metavar=f"[{'|'.join(kind)}]")


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


def training_of(wanted: bool, **options: Any) -> TrainingOptions | None:
    """The training run that is asked for, of options by their names; None where none is."""
    given = {name: value for name, value in options.items() if value}
    if given and not wanted:
        raise typer.BadParameter(f"--{next(iter(given))} needs --training.")
    return TrainingOptions(**given) if wanted else None


def check_view(view: View, form: str, *, sorted_: bool) -> None:
    """Refuse options of rows where no rows are shown."""
    rows = view.by is not None or view.top is not None or sorted_
    if view.quiet and view.verbose:
        raise typer.BadParameter("--quiet and --verbose exclude each other.")
    if view.depth is not None and view.by is not By.MODULE:
        raise typer.BadParameter("--depth needs --by module.")
    if view.quiet and form == "table" and rows:
        raise typer.BadParameter("--quiet shows no rows: leave out --by, --top and --sort, or --quiet.")
    if view.best_order and not view.memory:
        raise typer.BadParameter("--order needs --memory.")
    if view.memory and form not in ("table", "json"):
        raise typer.BadParameter("--memory is for tables and JSON.")
    if view.training is not None and (view.by is not None or sorted_):
        raise typer.BadParameter("--training shows nodes of its own: leave out --by and --sort.")
    if view.training is not None and view.memory and form != "json":
        raise typer.BadParameter("--training and --memory stand together in JSON alone: ask for one of them.")
    if view.predict and (view.by is not None or sorted_):
        raise typer.BadParameter("--predict shows kernels, the slowest first: leave out --by and --sort.")
    if view.predict and (view.training is not None or view.memory or view.symbolic) and form != "json":
        raise typer.BadParameter("--predict stands with --training, --memory or --symbolic in JSON alone.")
    if view.symbolic and form not in ("table", "json"):
        raise typer.BadParameter("--symbolic is for tables and JSON.")
    if view.symbolic and view.by not in (None, By.NODE):
        raise typer.BadParameter("--symbolic shows nodes: leave out --by.")
    if form == "json" and rows and view.by is None:
        raise typer.BadParameter("--top and --sort are of rows, which JSON has with --by.")


def run_rules(file: Path) -> None:
    """Run a user's own rules, which register themselves."""
    import runpy

    if not file.is_file():
        wrong = "is no file" if file.exists() else "does not exist"
        raise typer.BadParameter(f"{file} {wrong}; give a Python file with rules.")
    from neural_cost.analyzer.errors import NeuralCostError

    try:
        runpy.run_path(str(file), run_name=file.stem)
    except NeuralCostError as error:
        fail(f"{file}: {error}.", 2)
    except SystemExit:
        fail(f"{file} ended the program: a file of rules may not call sys.exit.", 2)
    except Exception as error:
        fail(f"{file} failed: {type(error).__name__}: {error}; --debug shows where.", 2)


def fail(message: str, code: int) -> None:
    """End with one sentence; --debug adds the traceback."""
    if "--debug" in sys.argv:
        import traceback

        traceback.print_exc()
    typer.echo(message, err=True)
    sys.exit(code)


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise typer.BadParameter(f'"{text}" is not of the form NAME=SIZE.')
    return name, value


def device_of(names: Sequence[str] | None) -> str | None:
    """The device that is named; another one would go unheard."""
    if names and len(set(names)) > 1:
        raise typer.BadParameter(f"--device is given as {' and as '.join(names)}: a run bounds the time on one.")
    name = names[0] if names else None
    if name is not None and name.strip().lower() == "cpu":
        raise typer.BadParameter("this machine's CPU is the device when --device is left out.")
    return name


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

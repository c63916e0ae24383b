"""Which options of a command fit each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import typer

from neural_cost.analyzer.memory.fits import InPlace
from neural_cost.analyzer.tables.view import By, ProfileBy, View
from neural_cost.analyzer.training.options import TrainingOptions


def training_of(wanted: bool, **options: Any) -> TrainingOptions | None:
    """The training run that is asked for, of options by their names; None where none is."""
    given = {name: value for name, value in options.items() if value}
    if given and not wanted:
        raise typer.BadParameter(f"--{next(iter(given))} needs --training.")
    return TrainingOptions(**given) if wanted else None


def check_loudness(*, quiet: bool, verbose: bool) -> None:
    """Refuse to say the least and everything."""
    if quiet and verbose:
        raise typer.BadParameter("--quiet and --verbose exclude each other.")


def check_view(view: View, form: str, *, sorted_: bool) -> None:
    """Refuse options of rows where no rows are shown."""
    check_loudness(quiet=view.quiet, verbose=view.verbose)
    rows = view.by is not None or view.top is not None or sorted_
    named = view.by is not None or sorted_
    written = form not in ("table", "json")
    for wrong, why in (
        (view.depth is not None and view.by is not By.MODULE, "--depth needs --by module."),
        (
            view.quiet and form == "table" and rows,
            "--quiet shows no rows: leave out --by, --top and --sort, or --quiet.",
        ),
        (view.best_order and not view.memory, "--order needs --memory."),
        (view.in_place is not InPlace.BOTH and not view.memory, "--in-place needs --memory."),
        (view.memory and written, "--memory is for tables and JSON."),
        (view.training is not None and named, "--training shows nodes of its own: leave out --by and --sort."),
        (
            view.training is not None and view.memory and form != "json",
            "--training and --memory stand together in JSON alone: ask for one of them.",
        ),
        (view.predict and named, "--predict shows kernels, the slowest first: leave out --by and --sort."),
        (
            view.predict and (view.training is not None or view.memory or view.symbolic) and form != "json",
            "--predict stands with --training, --memory or --symbolic in JSON alone.",
        ),
        (view.symbolic and written, "--symbolic is for tables and JSON."),
        (view.symbolic and view.by not in (None, By.NODE), "--symbolic shows nodes: leave out --by."),
        (form == "json" and rows and view.by is None, "--top and --sort are of rows, which JSON has with --by."),
    ):
        if wrong:
            raise typer.BadParameter(why)


class ProfileRows(NamedTuple):
    """Which rows of a profile are asked for; None where the user does not say."""

    by: ProfileBy | None
    depth: int | None
    top: int | None
    quiet: bool


def check_profile_rows(rows: ProfileRows, form: str) -> None:
    """Refuse options of rows where no rows are shown."""
    if rows.depth is not None and rows.by is not ProfileBy.MODULE:
        raise typer.BadParameter("--depth needs --by module.")
    if rows.by is None and rows.top is None:
        return
    if rows.quiet and form == "table":
        raise typer.BadParameter("--quiet shows no rows: leave out --by and --top, or --quiet.")
    if form == "json":
        raise typer.BadParameter("--by and --top are of rows: JSON has all there is, leave them out.")

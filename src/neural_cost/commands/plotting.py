"""`--plot FILE`: what is wrong with it is said before any work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neural_cost.commands.options import RESULT, file_to_write
from neural_cost.render.output import check, write_bytes

if TYPE_CHECKING:
    from neural_cost.analyzer.report import Report
    from neural_cost.runtime.profile import Profile

PlotOption = Annotated[
    Path | None, file_to_write("A picture of the roofline, to write: .png, .svg or .pdf.", "--plot", panel=RESULT)
]


def check_plot(file: Path | None, *sources: Path | None, others: tuple[Path | None, ...]) -> None:
    """Refuse a picture that could not be made, or that another result would be written over.

    Raises:
        OptionError: no such format.
        BackendError: matplotlib is missing.
    """
    if file is None:
        return
    from neural_cost.render.plots.figure import check_installed, check_suffix

    check_suffix(file)
    check(file, *sources, option="--plot")
    if file in others:
        raise typer.BadParameter("--plot is the same file as another result.")
    check_installed()


def write_plot(found: Report | Profile, file: Path | None) -> None:
    """Draw it and write it, where a file is asked for."""
    if file is None:
        return
    from neural_cost.render.plots.figure import encoded, plot

    write_bytes(encoded(plot(found), file), file, "--plot")

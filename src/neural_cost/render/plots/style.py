"""How pictures look: colours that differ in lightness too, and a shape for each, so that grey and colour blind work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from neural_cost.render.plots.points import GROUPS, OTHER


class Look(NamedTuple):
    """Colour and marker of a group of points."""

    colour: str
    marker: str


# The colours of Okabe and Ito, which the colour blind tell apart.
LOOKS: Mapping[str, Look] = dict(
    zip(
        (*GROUPS, OTHER),
        (
            Look("#0072B2", "o"),
            Look("#E69F00", "s"),
            Look("#009E73", "^"),
            Look("#CC79A7", "D"),
            Look("#56B4E9", "v"),
            Look("#D55E00", "h"),
            Look("#777777", "X"),
        ),
        strict=True,
    )
)
INK, FAINT, ALARM = "#222222", "#8A8A8A", "#B00020"
TEXT, SMALL, TITLE = 9.0, 8.0, 12.0  # points
DPI = 100


def halo() -> list[Any]:
    """White around letters, so that they can be read on lines and points and hide none."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground="white")]


@contextmanager
def plain_style() -> Iterator[None]:
    """Matplotlib as it comes, whatever the user's own settings are; names of nodes are text, never formulas."""
    import warnings

    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # a box stands for it
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {"text.parse_math": False, "svg.hashsalt": "neural-cost", "font.size": TEXT, "axes.edgecolor": FAINT}
        )
        yield

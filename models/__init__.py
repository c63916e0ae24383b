"""The canonical families: small ONNX files, and the scripts that make them.

The files are committed, so that nothing but this package is needed to read one: `path("transformer")`.
`torch_families` defines them; `python -m neural_cost.models.make` writes them anew.
"""

from __future__ import annotations

from pathlib import Path

NAMES = ("dnn", "cnn", "rnn", "lstm", "transformer")


def path(name: str) -> Path:
    """Return the committed ONNX file of a family.

    Raises KeyError, which lists the families, where there is none of that name.
    """
    if name not in NAMES:
        raise KeyError(f"no family is named {name!r}: choose one of {', '.join(NAMES)}")
    return Path(__file__).parent / f"{name}.onnx"

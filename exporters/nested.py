"""Names for what lies in nested tuples and dicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def names_of(structure: Any, base: str) -> list[str]:
    """A name for each leaf, in the order in which TensorFlow and JAX flatten: keys of a dict are sorted.

    A single leaf is `base`; what lies in a tuple is `base_0`, what lies in a dict has its key for a name.
    """
    return ["_".join(path) if path and not path[0].isdigit() else "_".join((base, *path)) for path in _paths(structure)]


def _paths(structure: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(structure, Mapping):
        for key in sorted(structure):
            yield from ((str(key), *rest) for rest in _paths(structure[key]))
    elif isinstance(structure, tuple | list):
        for index, each in enumerate(structure):
            yield from ((str(index), *rest) for rest in _paths(each))
    else:
        yield ()

"""A row of a hand table of backward costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """A node, the inputs that want a gradient, and what that costs; `keeps` names inputs x, w, ... and the output y."""

    op: str
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    wants: set[int]
    macs: Mapping[int, int] = field(default_factory=dict)
    inner: int = 0
    other: int = 0
    special: int = 0
    keeps: Sequence[str] = ()
    beside: int = 0  # bytes
    attributes: Mapping[str, Any] = field(default_factory=dict)
    domain: str = ""

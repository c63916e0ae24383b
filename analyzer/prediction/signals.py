"""Pieces of Fourier transforms: kinds "STFT", "DFT", and the same "power of two": transforms, and their length."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from neural_cost.analyzer.node import Unknown
from neural_cost.analyzer.prediction.piece import Job, Piece, ints


def short_time(job: Job) -> Iterator[Piece]:
    """An STFT: a transform of each frame, as long as its window, or as its last input says."""
    given, window = job.node.input(3), job.node.input(2)
    length = given.ints()[0] if given is not None else ints(window)[0]
    batch, frames = ints(job.node.y)[:2]
    yield Piece(_kind("STFT", length), (batch * frames, length))


def discrete(job: Job) -> Iterator[Piece]:
    """A DFT along an axis, which an input gives, and before opset 20 an attribute."""
    dims = ints(job.node.x)
    given = job.node.input(2)
    if given is not None and given.value is None:
        raise Unknown("the axis of its DFT is not known before a run", given.name)
    by_default = 1 if job.node.version < 20 else -2
    axis = given.ints()[0] if given is not None else int(job.node.attr("axis", by_default))
    length = ints(job.node.y)[axis % len(dims)]
    yield Piece(_kind("DFT", length), (prod(dims[:-1]) / max(1, dims[axis % len(dims)]), length))


def _kind(name: str, length: int) -> str:
    return name if length & (length - 1) else f"{name} power of two"

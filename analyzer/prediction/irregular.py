"""Pieces of operators that index, search, fill or interpolate.

Kinds "CumSum", "OneHot", "GatherElements", "NonZero", "Trilu", "ConstantOfShape", "Range", "DepthToSpace",
"SpaceToDepth", "Resize cubic": elements. "CumSum first", "GatherElements first": the same along another axis than the
last. "ScatterElements": elements that are put. "GatherND", "ScatterND", "Tile": runs of elements that stay together,
and how long each is. "TopK": rows, their length, how many of each are kept. "GridSample": places, channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from neural_cost.analyzer.prediction.piece import Job, Piece, count, ints, tail, together

BLOCK = 2  # of those that were timed


def _is_last(axis: int, dims: tuple[int, ...]) -> bool:
    """Whether no more than one element lies behind an axis."""
    return tail(dims, axis % max(1, len(dims)) + 1) == 1


def cumulated(job: Job) -> Iterator[Piece]:
    """A CumSum: along the last axis it goes element by element."""
    axis, made = job.node.required(1), count(job.node.y)
    known = axis.value is not None
    last = not known or _is_last(axis.ints()[0], ints(job.node.x))
    yield Piece("CumSum" if last else "CumSum first", (made,), guess=not known)


def one_hot(job: Job) -> Iterator[Piece]:
    """A OneHot."""
    yield Piece("OneHot", (count(job.node.y),))


def gathered(job: Job) -> Iterator[Piece]:
    """A GatherElements."""
    last = _is_last(int(job.node.attr("axis", 0)), ints(job.node.x))
    yield Piece("GatherElements" if last else "GatherElements first", (count(job.node.y),))


def gathered_rows(job: Job) -> Iterator[Piece]:
    """A GatherND."""
    dims = ints(job.node.x)
    length = prod(dims[ints(job.node.input(1))[-1] + int(job.node.attr("batch_dims", 0)) :])
    yield Piece("GatherND", (count(job.node.y) / max(1, length), length))


def scattered(job: Job) -> Iterator[Piece]:
    """A copy of all, and what is put into it; reductions take longer than what was timed."""
    updates = job.node.required(2)
    put, guess = count(updates), job.node.attr("reduction", "none") != "none"
    if job.node.op_type == "ScatterND":
        length = prod(ints(updates)[len(ints(job.node.input(1))) - 1 :])
        yield Piece("ScatterND", (put / max(1, length), length), guess=guess)
    else:
        last = _is_last(int(job.node.attr("axis", 0)), ints(job.node.x))
        yield Piece("ScatterElements", (put,), guess=guess or not last)
    if (rest := count(job.node.y) - put) > 0:  # as many as are put were copied in what was timed
        yield Piece("Neg", (rest,))


def tiled(job: Job) -> Iterator[Piece]:
    """A Tile: runs that are repeated."""
    length = together(job.node.y, job.node.x)
    yield Piece("Tile", (count(job.node.y) / max(1, length), length))


def best_of(job: Job) -> Iterator[Piece]:
    """A TopK: it searches each row along its axis."""
    dims, made = ints(job.node.x), ints(job.node.y)
    axis = int(job.node.attr("axis", -1)) % max(1, len(dims))
    length = dims[axis] if dims else 1
    rows = prod(dims) / max(1, length)
    yield Piece("TopK", (rows, length, made[axis] if made else 1), guess=not _is_last(axis, dims))


def nonzero(job: Job) -> Iterator[Piece]:
    """A NonZero: all that it looks at; how many it finds, and how they lie, is not known."""
    yield Piece("NonZero", (count(job.node.x),), guess=True)


def filled(job: Job) -> Iterator[Piece]:
    """A tensor that is filled; an EyeLike was not timed."""
    op_type = job.node.op_type
    guess = op_type == "EyeLike"
    yield Piece("ConstantOfShape" if guess else op_type, (count(job.node.y),), guess=guess)


def blocks(job: Job) -> Iterator[Piece]:
    """A DepthToSpace or SpaceToDepth."""
    yield Piece(job.node.op_type, (count(job.node.y),), guess=int(job.node.attr("blocksize", BLOCK)) != BLOCK)


def sampled(job: Job) -> Iterator[Piece]:
    """A GridSample: bilinear ones of images were timed."""
    dims = ints(job.node.y)
    channels = dims[1] if len(dims) > 1 else 1
    alike = len(dims) == 4 and job.node.attr("mode", "linear") in ("linear", "bilinear")
    yield Piece("GridSample", (prod(dims) / max(1, channels), channels), guess=not alike)

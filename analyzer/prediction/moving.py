"""Pieces of operators that move elements.

Kinds "Transpose", "Gather", "Concat", "Slice", "Split", "Expand", "Pad": runs of elements that stay together, and how
long each is. "Transpose 2d": rows and columns that change places. "Resize ...": elements that it makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.prediction.piece import Job, Piece, count, ints, tail


def transpose(job: Job) -> Iterator[Piece]:
    """Runs that stay together, or, where the last axis moves, rows and columns."""
    dims = ints(job.node.x)
    perm = [int(axis) for axis in job.node.attr("perm", range(len(dims) - 1, -1, -1))]
    moved = [axis for axis in perm if dims[axis] != 1]
    if moved == sorted(moved):  # nothing changes its place
        yield Piece("Reshape", (1,))
        return
    together = 1
    for place, axis in zip(reversed(range(len(dims))), reversed(perm), strict=True):
        if axis != place:
            break
        together *= dims[axis]
    if together > 1:
        yield Piece("Transpose", (prod(dims) / together, together))
    else:
        yield Piece("Transpose 2d", (prod(dims) / max(1, dims[-1]), dims[-1]))


def gather(job: Job) -> Iterator[Piece]:
    """Rows of a table, of as many elements as lie behind the axis."""
    dims, made = ints(job.node.x), count(job.node.y)
    if job.node.op_type == "GatherND":
        length = prod(dims[ints(job.node.input(1))[-1] + int(job.node.attr("batch_dims", 0)) :])
    elif job.node.op_type == "GatherElements":
        length = 1
    else:
        length = tail(dims, int(job.node.attr("axis", 0)) % max(1, len(dims)) + 1)
    yield Piece("Gather", (made / max(1, length), length), guess=job.node.op_type != "Gather")


def concat(job: Job) -> Iterator[Piece]:
    """Runs of its inputs, which take turns."""
    inputs = [tensor for tensor in job.node.inputs if tensor is not None]
    made = ints(job.node.y)
    axis = int(job.node.attr("axis", 0)) % max(1, len(made))
    runs = prod(made[:axis]) * len(inputs)
    yield Piece("Concat", (runs, prod(made) / max(1, runs)))


def split(job: Job) -> Iterator[Piece]:
    """Runs of its outputs, which take turns."""
    dims = ints(job.node.x)
    if job.node.op_type in ("Slice", "Gather"):  # those of a group that is one Split
        together = max(1, _together(job.node.x, job.node.y))
        yield Piece("Split", (count(job.node.x) / together, together))
        return
    axis = int(job.node.attr("axis", 0)) % max(1, len(dims))
    outputs = [tensor for tensor in job.node.outputs if tensor is not None]
    length = tail(dims, axis) / max(1, len(outputs))
    yield Piece("Split", (prod(dims) / max(1.0, length), length))


def part(job: Job) -> Iterator[Piece]:
    """A Slice: runs that lie together in what it is cut from."""
    length = _together(job.node.x, job.node.y)
    yield Piece("Slice", (count(job.node.y) / max(1, length), length))


def pad(job: Job) -> Iterator[Piece]:
    """A Pad: the runs of what is padded."""
    length = _together(job.node.y, job.node.x)
    yield Piece("Pad", (count(job.node.y) / max(1, length), length))


def expand(job: Job) -> Iterator[Piece]:
    """An Expand, Tile or the like: runs of what is repeated."""
    length = _together(job.node.y, job.node.x)
    yield Piece("Expand", (count(job.node.y) / max(1, length), length), guess=job.node.op_type != "Expand")


def _together(whole: Tensor | None, taken: Tensor | None) -> int:
    """Elements of the smaller tensor that lie together in the larger one: up to the last axis whose size differs."""
    large, small = ints(whole), ints(taken)
    length = 1
    for index, size in enumerate(reversed(small)):
        length *= size
        if index >= len(large) or large[len(large) - 1 - index] != size:
            break
    return length


def resize(job: Job) -> Iterator[Piece]:
    """A Resize or Upsample."""
    nearest = job.node.attr("mode", "nearest") == "nearest"
    guess = job.node.attr("mode", "nearest") == "cubic" or len(ints(job.node.y)) != 4
    yield Piece("Resize nearest" if nearest else "Resize linear", (count(job.node.y),), guess=guess)


def scatter(job: Job) -> Iterator[Piece]:
    """A copy of all, and the rows that are put into it."""
    yield Piece("Neg", (count(job.node.y),), guess=True)
    updates = job.node.input(2)
    if updates is not None:
        yield Piece("Gather", (count(updates), 1), guess=True)


def filled(job: Job) -> Iterator[Piece]:
    """A tensor that is filled: one pass over it."""
    yield Piece("Neg", (count(job.node.y),), 0.5, guess=True)


def nothing(job: Job) -> Iterator[Piece]:
    """A view: a kernel that is started and that moves nothing."""
    yield Piece("Reshape", (1,))

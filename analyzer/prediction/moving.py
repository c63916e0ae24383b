"""Pieces of operators that move elements.

Kinds "Transpose", "Gather", "Concat", "Slice", "Split", "Expand", "Pad": runs of elements that stay together, and how
long each is. "Transpose 2d": rows and columns that change places. "Resize ...": elements that it makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from neural_cost.analyzer.prediction.piece import Job, Piece, count, ints, tail, together


def transpose(job: Job) -> Iterator[Piece]:
    """Runs that stay together, or, where the last axis moves, rows and columns."""
    dims = ints(job.node.x)
    perm = [int(axis) for axis in job.node.attr("perm", range(len(dims) - 1, -1, -1))]
    blocks = _blocks([axis for axis in perm if dims[axis] != 1])
    if len(blocks) < 2:  # nothing changes its place
        yield Piece("Reshape", (1,))
        return
    if blocks[-1] == max(blocks):
        together = prod(dims[axis] for axis in blocks[-1])
        yield Piece("Transpose", (prod(dims) / max(1, together), together))
    else:  # two blocks that change places were timed; element by element it is many times slower
        alone = len(blocks) == 2 or (len(blocks) == 3 and blocks[0] == min(blocks))
        last = next(size for size in reversed(dims) if size != 1)
        yield Piece("Transpose 2d", (prod(dims) / max(1, last), last), guess=not alone)


def _blocks(perm: list[int]) -> list[list[int]]:
    """Axes of a permutation, those that stay side by side together; axes of size 1 are left out before."""
    order = sorted(perm)
    found: list[list[int]] = []
    for axis in perm:
        if found and order.index(axis) == order.index(found[-1][-1]) + 1:
            found[-1].append(axis)
        else:
            found.append([axis])
    return found


def gather(job: Job) -> Iterator[Piece]:
    """Rows of a table, of as many elements as lie behind the axis."""
    dims = ints(job.node.x)
    length = tail(dims, int(job.node.attr("axis", 0)) % max(1, len(dims)) + 1)
    yield Piece("Gather", (count(job.node.y) / max(1, length), length))


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
        length = max(1, together(job.node.x, job.node.y))
        yield Piece("Split", (count(job.node.x) / length, length))
        return
    axis = int(job.node.attr("axis", 0)) % max(1, len(dims))
    outputs = [tensor for tensor in job.node.outputs if tensor is not None]
    run = tail(dims, axis) / max(1, len(outputs))
    yield Piece("Split", (prod(dims) / max(1.0, run), run))


def part(job: Job) -> Iterator[Piece]:
    """A Slice: runs that lie together in what it is cut from."""
    steps = not _steps_by_one(job)
    length = _behind_steps(job) if steps else together(job.node.x, job.node.y)
    yield Piece("Slice", (count(job.node.y) / max(1, length), length), guess=steps)


def _steps_by_one(job: Job) -> bool:
    steps = job.node.input(4)
    return steps is None or (steps.value is not None and set(steps.ints()) <= {1})


def _behind_steps(job: Job) -> int:
    """Elements that lie together where some are left out between those that are taken, or their order is turned."""
    made, axes, steps = ints(job.node.y), job.node.input(3), job.node.required(4)
    stepped = steps.ints()
    along = range(len(stepped)) if axes is None else [axis % max(1, len(made)) for axis in axes.ints()]
    last = max(axis for axis, step in zip(along, stepped, strict=True) if step != 1)
    return tail(made, last + 1)


def pad(job: Job) -> Iterator[Piece]:
    """A Pad: the runs of what is padded."""
    length = together(job.node.y, job.node.x)
    yield Piece("Pad", (count(job.node.y) / max(1, length), length))


def expand(job: Job) -> Iterator[Piece]:
    """An Expand: runs of what is repeated."""
    length = together(job.node.y, job.node.x)
    yield Piece("Expand", (count(job.node.y) / max(1, length), length))


def resize(job: Job) -> Iterator[Piece]:
    """A Resize or Upsample."""
    mode = job.node.attr("mode", "nearest")
    yield Piece(f"Resize {mode}", (count(job.node.y),), guess=len(ints(job.node.y)) != 4)


def nothing(job: Job) -> Iterator[Piece]:
    """A view: a kernel that is started and that moves nothing."""
    yield Piece("Reshape", (1,))

"""Pieces of convolutions.

Kinds "conv 1x1", "conv 3x3", "conv 5x5": places of the output over all examples, input channels, output channels,
packed. "first conv 3x3", "first conv 7x7": the same, of few channels in the file's own layout. "depthwise ...":
places, channels. "plain conv ...": in the file's own layout, groups of all examples, places of each, channels of a
group in and out; a window of another size counts as more or fewer channels, as it is laid out in rows that are then
multiplied. "plain depthwise": places, channels. "ConvTranspose": places of the input, channels in and out, windows of
2 x 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from neural_cost.analyzer.prediction.piece import Job, Piece, grown, ints

PACKED: Mapping[int, str] = {1: "conv 1x1", 9: "conv 3x3", 25: "conv 5x5"}
FIRST: Mapping[int, str] = {9: "first conv 3x3", 49: "first conv 7x7"}
DEPTHWISE: Mapping[int, str] = {9: "depthwise 3x3", 25: "depthwise 5x5"}
RANK_2D = 4


def convolution(job: Job) -> Iterator[Piece]:
    """A Conv: packed where the runtime packs it, else through rows of windows."""
    batch, _, *out = ints(job.node.y)
    cout, cin, *window = ints(job.node.input(1))
    groups = int(job.node.attr("group", 1))
    places, taps = batch * prod(out), prod(window)
    if job.packed and groups > 1 and cin == 1:
        yield _depthwise(job, places, taps, cout)
    elif job.packed and cin < job.block:
        kind, factor = _nearest(FIRST, taps)
        yield Piece(kind, (places, cin, grown(cout, job.block)), factor)
    elif job.packed:
        kind, factor = _nearest(PACKED, taps)
        yield Piece(kind, (places, grown(cin, job.block), grown(cout // groups, job.block)), factor * groups)
    elif groups > 1 and cin == 1 and cout == groups:
        yield Piece("plain depthwise", (places, cout), taps / 9, guess=len(window) + 2 != RANK_2D)
    else:
        kind, inner = ("plain conv 1x1", cin) if taps == 1 else ("plain conv 3x3", cin * taps / 9)
        sizes = (batch * groups, prod(out), inner, cout // groups)
        yield Piece(kind, sizes, guess=len(window) + 2 > RANK_2D)


def _depthwise(job: Job, places: int, taps: int, channels: int) -> Piece:
    kind, factor = _nearest(DEPTHWISE, taps)
    strided = any(step > 1 for step in job.node.attr("strides", ()))
    name = f"{kind} strided" if strided and kind == "depthwise 3x3" else kind
    return Piece(name, (places, grown(channels, job.block)), factor)


def transposed(job: Job) -> Iterator[Piece]:
    """A ConvTranspose: each place of the input is spread over a window."""
    batch, cin, *places = ints(job.node.x)
    _, cout, *window = ints(job.node.input(1))
    groups = int(job.node.attr("group", 1))
    sizes = (batch * prod(places), cin // groups, cout)
    yield Piece("ConvTranspose", sizes, groups * prod(window) / 4, guess=len(window) + 2 != RANK_2D)


def quantized(job: Job) -> Iterator[Piece]:
    """A convolution of integers, as a product of its windows with its weights."""
    at = 3 if job.node.op_type == "QLinearConv" else 1
    batch, _, *out = ints(job.node.y)
    cout, cin, *window = ints(job.node.input(at))
    groups = int(job.node.attr("group", 1))
    sizes = (batch * prod(out), cin * prod(window), cout // groups)
    yield Piece("MatMulInteger", sizes, groups, guess=True)


def _nearest(kinds: Mapping[int, str], taps: int) -> tuple[str, float]:
    """The kind whose window is nearest in size, and by how much this one is larger."""
    nearest = min(kinds, key=lambda known: (max(known, taps) / min(known, taps), known))
    return kinds[nearest], taps / nearest

"""Checkpointing: segments of the graph that keep what they read, and compute the rest again when its turn comes.

While one segment runs backward, held are: of the segments before it what they read, or all they need where they are not
checkpointed, and all that this one needs. What later segments held is free by then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import isqrt

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import Tensor, Unknown
from neural_cost.analyzer.training.options import Checkpoint, TrainingOptions
from neural_cost.analyzer.training.passes import NUMBERS, Part, backward_pass
from neural_cost.analyzer.training.record import Trade
from neural_cost.analyzer.training.saved import Sizes
from neural_cost.analyzer.training.subject import Subject
from neural_cost.analyzer.walk import NodeCost

BLOCK = re.compile(r"^(?:.*?[/.])?\d+(?=[/.]|$)")  # the first numbered module of a path: "encoder/layers/0"
MOST_SEGMENTS = 64


@dataclass(frozen=True, slots=True)
class Plan:
    """What checkpointing comes to; `saved_bytes` is None where nothing is checkpointed."""

    saved_bytes: int | None = None
    recomputed_macs: int = 0
    recomputed_flops: int = 0
    notes: Sequence[str] = ()


@dataclass
class Segment:
    """Nodes in order, those of bodies after the node that runs them; `again` says that they are computed again."""

    nodes: list[NodeCost]
    parts: list[Part] = field(default_factory=list)
    held: bool = False
    again: bool = True


def plan_of(found: Subject, parts: Sequence[Part], sizes: Sizes, options: TrainingOptions) -> Plan:
    """What the chosen checkpointing comes to."""
    if options.checkpoint is Checkpoint.NONE:
        return Plan()
    nodes = _running(found)
    if options.checkpoint is Checkpoint.BLOCK:
        segments = _blocks(nodes)
        if all(segment.held for segment in segments):
            why = (
                "no numbered modules are known from the file, so nothing is checkpointed; --checkpoint sqrt needs none"
            )
            return Plan(notes=[why])
    else:
        segments = _cut(nodes, parts, sizes, isqrt(len(nodes)))
    trade = _trade(_with_parts(segments, parts), sizes)
    if trade is None:
        return Plan(notes=["a size is not known, and with it what checkpointing comes to: nothing is checkpointed"])
    return Plan(trade.saved_bytes, trade.recomputed_macs, trade.recomputed_flops)


def block_sums(found: Subject, parts: Sequence[Part], sizes: Sizes) -> list[Dim]:
    """Bytes held while each block runs backward: which blocks there are does not depend on sizes.

    Raises:
        Unknown: a size is not known.
    """
    return list(_held(_with_parts(_blocks(_running(found)), parts), sizes))


def sqrt_sums(found: Subject, parts: Sequence[Part], numbers: Sizes, symbols: Sizes) -> list[Dim]:
    """The same for segments as many as the square root of the nodes, `parts` in symbols.

    Segments are cut by bytes, so they are the same at all sizes where the bytes of each node are a multiple of one and
    the same expression; else the list is empty.

    Raises:
        Unknown: a size is not known.
    """
    nodes = _running(found)
    needs = [_bytes(part, symbols) for part in parts]
    if not _are_multiples([need for need in needs if need != 0]):
        return []
    in_numbers = backward_pass(found.flow, found.storage, NUMBERS)
    return list(_held(_with_parts(_cut(nodes, in_numbers, numbers, isqrt(len(nodes))), parts), symbols))


def _are_multiples(needs: Sequence[Dim]) -> bool:
    import sympy

    ratios = (sympy.cancel(sympy.sympify(need) / needs[0]) for need in dict.fromkeys(needs))
    return all(ratio.is_Rational for ratio in ratios)


def trades(found: Subject, parts: Sequence[Part], sizes: Sizes) -> list[Trade]:
    """What more and more segments come to, each of about as many bytes."""
    nodes = _running(found)
    counts = [count for count in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, MOST_SEGMENTS) if count <= max(1, len(parts))]
    made = (_trade(_with_parts(_cut(nodes, parts, sizes, count), parts), sizes) for count in counts)
    return list({trade.segments: trade for trade in made if trade is not None}.values())


def _running(found: Subject) -> list[NodeCost]:
    return [node for node in found.graph.nodes if not node.constant]


def _blocks(nodes: Sequence[NodeCost]) -> list[Segment]:
    """Runs of nodes of one numbered module, and what is between them, which is held."""
    keys = _keys(nodes)
    pairs = zip(keys, nodes, strict=True)
    runs = [(key, [node for _, node in run]) for key, run in groupby(pairs, key=lambda pair: pair[0])]
    return [Segment(run, held=not key, again=bool(key)) for key, run in runs]


def _keys(nodes: Sequence[NodeCost]) -> list[str]:
    """The numbered module of each node. One without a module, between two of a block, is of that block."""
    keys: list[str] = []
    for node in nodes:
        found = BLOCK.match(node.scope)
        inside = node.graph != "main" and keys  # a body goes with the node that runs it
        keys.append(keys[-1] if inside else found.group() if found else "")
    last = {key: at for at, key in enumerate(keys)}
    for at, key in enumerate(keys[1:], start=1):
        if not key and keys[at - 1] and last[keys[at - 1]] > at:
            keys[at] = keys[at - 1]
    return keys


def _cut(nodes: Sequence[NodeCost], parts: Sequence[Part], sizes: Sizes, count: int) -> list[Segment]:
    """So many segments, each of which needs about as many bytes; the last one is not computed again."""
    needs: dict[int, Dim] = {id(part.node): _bytes(part, sizes) for part in parts}
    whole = sum(needs.values()) or 1
    segments: list[Segment] = [Segment([])]
    so_far = 0
    for node in nodes:
        if node.graph == "main" and so_far * count >= whole * len(segments) and len(segments) < count:
            segments.append(Segment([]))
        segments[-1].nodes.append(node)
        so_far += needs.get(id(node), 0)
    segments[-1].again = False
    return segments


def _bytes(part: Part, sizes: Sizes) -> Dim:
    try:
        return sizes.total(part.saves) + sizes.beside(part)
    except Unknown:
        return 0


def _with_parts(segments: list[Segment], parts: Sequence[Part]) -> list[Segment]:
    place = {id(node): segment for segment in segments for node in segment.nodes}
    for part in parts:
        place[id(part.node)].parts.append(part)
    return [segment for segment in segments if segment.nodes]


def _trade(segments: Sequence[Segment], sizes: Sizes) -> Trade | None:
    """The most that is held at once, and what is computed again; None where a size is not known."""
    again = [node for segment in segments if segment.again and segment.parts for node in segment.nodes]
    try:
        most = max(_held(segments, sizes), default=0)
    except Unknown:
        return None
    return Trade(
        len(segments),
        most,
        _sum(again, lambda node: node.cost.macs if node.cost else 0),
        _sum(again, lambda node: node.cost.flops if node.cost else 0),
    )


def _sum(nodes: Sequence[NodeCost], count: Callable[[NodeCost], int]) -> int:
    return sum(count(node) * (node.repeats or 0) for node in nodes)


def _held(segments: Sequence[Segment], sizes: Sizes) -> Iterator[Dim]:
    """Bytes held while each segment runs backward."""
    kept: dict[Tensor, None] = {}
    beside = 0
    for segment in segments:
        needed = {tensor: None for part in segment.parts for tensor in part.saves}
        own = sum((sizes.beside(part) for part in segment.parts), 0)
        read = [] if segment.held or not segment.again else _read(segment, sizes)
        yield sizes.total([*kept, *read, *needed]) + beside + own
        if segment.held:
            kept.update(needed)
            beside = beside + own
        elif segment.parts:
            kept.update(dict.fromkeys(_read(segment, sizes)))


def _read(segment: Segment, sizes: Sizes) -> list[Tensor]:
    """What a segment reads of those before it: it is computed again from that."""
    made = {tensor for node in segment.nodes for tensor in node.node.outputs}
    read = (tensor for node in segment.nodes for tensor in node.node.inputs if tensor is not None)
    roots = dict.fromkeys(sizes.storage.root(tensor) for tensor in read if tensor not in made)
    return [root for root in roots if root not in made and not root.constant]

"""Compulsory traffic: what perfect fusion from cold caches still moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from neural_cost.analyzer.cost import Dim, maximum, minimum
from neural_cost.analyzer.expressions import at_least_zero
from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.walk import NodeCost


def compulsory_bytes(
    nodes: Iterable[NodeCost], sources: Mapping[str, Tensor], outputs: Iterable[Tensor]
) -> tuple[Dim, bool]:
    """Bytes that nothing can save, and whether these are all of them.

    `sources` are weights, other constants that are data, and graph inputs as stored, by the names that nodes read them
    under. Each stored one counts what is read of it (of a Gather's table the rows it takes; where several nodes read
    one, the most that any of them reads), and no more than its own bytes: a quantized weight need not be widened in
    memory. Each graph output counts once. Where the cost of a node or the size of an output is not known, the bytes
    are those that are known.
    """
    read: dict[str, Dim] = {}
    complete = True
    for node in nodes:
        complete = complete and node.cost is not None
        for tensor in node.node.inputs:
            if tensor is not None and tensor.name in sources and node.cost is not None and not node.constant:
                stored = sources[tensor.name]
                try:
                    used = minimum(_read_of(node, tensor), stored.bytes)
                except Unknown:  # strings
                    complete = False
                    continue
                read[stored.name] = maximum(read.get(stored.name, 0), used)
    total = sum(read.values())
    for tensor in outputs:
        try:
            total += tensor.bytes
        except Unknown:
            complete = False
    return total, complete


def compulsory_shares(nodes: Sequence[NodeCost], sources: Mapping[str, Tensor], outputs: Iterable[Tensor]) -> list[int]:
    """The same bytes, in numbers, by the place of the node that they are laid to; their sum is that of all.

    What several nodes read is the first one's that reads the most of it; an output is the last one's that writes it.
    An output that no node writes, an input handed on, is nobody's.
    """
    most: dict[str, tuple[int, int]] = {}
    writers: dict[str, int] = {}
    for place, node in enumerate(nodes):
        writers |= {tensor.name: place for tensor in node.node.outputs if tensor is not None}
        for name, used in _reads(node, sources):
            if used > most.get(name, (-1, 0))[0]:
                most[name] = (used, place)
    found = [0] * len(nodes)
    for used, place in most.values():
        found[place] += used
    for tensor in outputs:
        with suppress(Unknown):
            if tensor.name in writers:
                found[writers[tensor.name]] += int(tensor.bytes)
    return found


def _reads(node: NodeCost, sources: Mapping[str, Tensor]) -> Iterator[tuple[str, int]]:
    if node.cost is None or node.constant:
        return
    for tensor in node.node.inputs:
        if tensor is not None and tensor.name in sources:
            stored = sources[tensor.name]
            with suppress(Unknown):  # strings
                yield stored.name, int(minimum(_read_of(node, tensor), stored.bytes))


# Where a rule that reads less than all of its node's inputs leaves something out; of the first input unless named here.
PARTLY_READ: Mapping[str, Sequence[int]] = {"RotaryEmbedding": (1, 2)}


def _read_of(node: NodeCost, source: Tensor) -> Dim:
    """Bytes of a tensor that a node reads.

    What a rule leaves out of the default traffic, it leaves out of one input: a Gather's table, a Slice's data. An
    operator of another domain may leave it out of any. A view reads nothing itself and hands the tensor on: all of
    it counts. Where the default is not known (strings), nothing is counted, which keeps the sum a lower bound.
    """
    assert node.cost is not None
    try:
        if node.kind == "views":
            return source.bytes if node.node.op_type not in ("Shape", "Size") else 0
        if not _is_partly_read(node.node, source):
            return source.bytes
        read: Dim = at_least_zero(source.bytes - at_least_zero(node.node.read_bytes - node.cost.read_bytes))
        return read
    except Unknown:
        return 0


def _is_partly_read(node: Node, source: Tensor) -> bool:
    if node.domain:
        return True
    places = PARTLY_READ.get(node.op_type, (0,))
    return any((tensor := node.input(place)) is not None and tensor.name == source.name for place in places)

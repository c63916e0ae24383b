"""Weights that are made of other weights: once at load time for inference, in every pass of training.

A low-rank adapter that is added to its weight, a weight that is normalized, a query that is learned and projected, the
rows of a table of positions that a fixed length needs: the file has nodes for that, which depend on weights alone. For
training they run, forward and backward, and what is trained is what they read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from neural_cost.analyzer.node import Node, Tensor, Unknown
from neural_cost.analyzer.parameters import SAME_ELEMENTS, parameters
from neural_cost.analyzer.training.flow import is_real
from neural_cost.analyzer.walk import NodeCost, as_it_runs

TAKING = {"Gather", "Slice", "Split", "GatherND", "GatherElements", "SequenceAt"}


@dataclass(frozen=True, slots=True)
class Unfolded:
    """The nodes of a model as training runs them.

    Attributes:
        run: those among them that inference does not run.
        now: what tensors that are no constants any more are now.
        fills: names of what the nodes that inference does not run read and that no weight is part of: zeros, positions.
        shared: by the names of parts that together are a whole, that whole: to a framework one parameter.
    """

    nodes: Sequence[NodeCost]
    run: Sequence[NodeCost] = ()
    now: Mapping[Tensor, Tensor] = field(default_factory=dict)
    fills: frozenset[str] = frozenset()
    shared: Mapping[str, Tensor] = field(default_factory=dict)

    def tensor(self, tensor: Tensor) -> Tensor:
        """What a tensor is now."""
        return self.now.get(tensor, tensor)


def unfold(nodes: Sequence[NodeCost]) -> Unfolded:
    """Find the nodes of the main graph that make weights of weights, and let them run.

    Those are nodes that do arithmetic, and those that take a part of a weight of which nothing takes the rest: a
    recurrent layer whose gates an exporter has put into another order is what it was.
    """
    constant = [each for each in nodes if each.constant and each.graph == "main"]
    taken = _taken(constant)
    shared = {t.name: source for source, some in taken.items() if not _leaves_out(source, some) for t in some}
    origins = _origins(constant, taken)
    made = origins.made
    if not made:
        return Unfolded(nodes, shared=shared)
    weights = parameters(nodes)
    read = (tensor for each in nodes if not each.constant for tensor in each.node.inputs)
    wanted = {tensor for tensor in read if tensor in made and tensor.name in weights}
    run: list[NodeCost] = []
    for each in reversed(constant):
        if any(tensor in wanted for tensor in each.node.outputs):
            run.append(each)
            wanted.update(tensor for tensor in each.node.inputs if tensor in made)
    now = {tensor: replace(tensor, constant=False) for each in run for tensor in each.node.outputs if tensor in made}
    among = {id(each) for each in run}
    renewed = {
        id(each): replace(as_it_runs(each) if id(each) in among else each, node=_renewed(each.node, now))
        for each in nodes
    }
    fills = {tensor.name for each in run for tensor in each.node.inputs if tensor in origins.known - origins.stored}
    return Unfolded(
        [renewed[id(each)] for each in nodes],
        [renewed[id(each)] for each in reversed(run)],
        now,
        frozenset(fills),
        shared,
    )


class _Origins(NamedTuple):
    """What constant nodes give that is of real numbers.

    Attributes:
        stored: of it what weights of the file are part of; `made` by arithmetic, `known` all.
    """

    stored: set[Tensor]
    made: set[Tensor]
    known: set[Tensor]


def _origins(constant: Iterable[NodeCost], taken: Mapping[Tensor, Sequence[Tensor]]) -> _Origins:
    partly = {source: some for source, some in taken.items() if _leaves_out(source, some)}
    parts = {tensor for some in partly.values() for tensor in some}
    stored: set[Tensor] = set()
    made: set[Tensor] = set()
    known: set[Tensor] = set()
    for each in constant:
        reads = [tensor for tensor in each.node.inputs if tensor is not None and is_real(tensor)]
        writes = [tensor for tensor in each.node.outputs if tensor is not None and is_real(tensor)]
        known.update(writes)
        of_weights = any(tensor in stored or (tensor not in known and _is_several(tensor)) for tensor in reads)
        if of_weights or (each.node.op_type == "Constant" and any(map(_is_several, writes))):
            stored.update(writes)
        splits = each.node.op_type == "SplitToSequence" and each.node.x in partly
        makes = of_weights and (splits or _computes(each) or not parts.isdisjoint(writes))
        if makes or any(tensor in made for tensor in reads):
            made.update(writes)
    return _Origins(stored, made, known)


def _taken(constant: Iterable[NodeCost]) -> dict[Tensor, list[Tensor]]:
    """What nodes take of a constant, by that constant."""
    same: dict[Tensor, Tensor] = {}
    taken: dict[Tensor, list[Tensor]] = {}
    for each in constant:
        source = each.node.input(0)
        writes = [tensor for tensor in each.node.outputs if tensor is not None]
        if source is None or not is_real(source):
            continue
        if each.node.op_type in SAME_ELEMENTS or each.node.op_type == "SplitToSequence":
            same.update((tensor, same.get(source, source)) for tensor in writes)
        elif each.node.op_type in TAKING:
            taken.setdefault(same.get(source, source), []).extend(writes)
    return taken


def _leaves_out(source: Tensor, some: Sequence[Tensor]) -> bool:
    """Whether something of it is not taken."""
    try:
        return bool(sum(tensor.size for tensor in some) < source.size)
    except (Unknown, TypeError):  # a size that is not known, or of open dimensions
        return False


def _is_several(tensor: Tensor) -> bool:
    """Whether it may be a weight: a single number is a factor, or an epsilon."""
    return bool(tensor.dims) and (None in tensor.dims or tensor.size != 1) if tensor.dims is not None else False


def _computes(node: NodeCost) -> bool:
    """Whether it does arithmetic; one whose cost is not known may."""
    if node.node.op_type in SAME_ELEMENTS:
        return False
    cost = as_it_runs(node).cost
    return cost is None or cost.flops != 0


def _renewed(node: Node, now: Mapping[Tensor, Tensor]) -> Node:
    tensors = (*node.inputs, *node.outputs)
    if not any(tensor in now for tensor in tensors if tensor is not None):
        return node
    inputs, outputs = (
        [None if tensor is None else now.get(tensor, tensor) for tensor in some] for some in (node.inputs, node.outputs)
    )
    return replace(node, inputs=inputs, outputs=outputs)

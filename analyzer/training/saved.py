"""Activations that the backward pass needs kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from neural_cost.analyzer.cost import Dim, minimum
from neural_cost.analyzer.node import Tensor, Unknown
from neural_cost.analyzer.training.passes import Looks, Part, alike
from neural_cost.analyzer.training.storage import Held, Storage, bytes_of, kept_bytes
from neural_cost.analyzer.walk import NodeCost


@dataclass
class Saved:
    """Bytes that are kept: in all, of them graph inputs, and by the first node that needs them.

    Attributes:
        unknown: tensors whose size is not known, with the reason.
    """

    total: Dim = 0
    inputs: Dim = 0
    by_node: dict[int, Dim] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


class Sizes:
    """Bytes of tensors as they are kept, in all runs."""

    def __init__(self, storage: Storage, looks: Looks, activation: int | None, nodes: Iterable[NodeCost]) -> None:
        self.storage, self.looks, self.activation = storage, looks, activation
        self._makers = {tensor: node for node in nodes for tensor in node.node.outputs if tensor is not None}

    def of(self, root: Tensor, held: Held) -> Dim:
        """Bytes of a memory. Raises Unknown where its size, or how often it is made, is not known."""
        maker = self._makers.get(root)
        times = 1 if maker is None else self.looks.repeats(maker)
        loop = None if maker is None or held.all else self.storage.loops.get(maker.graph)
        starts = 0 if loop is None else self.looks.repeats(loop)
        if times is None or starts is None:
            raise Unknown("it is not known how often it is made", root.name)
        return bytes_of(self.looks.tensor(root), self.activation) * (times - minimum(starts, times))

    def total(self, tensors: Iterable[Tensor]) -> Dim:
        """Bytes of all that lies in the memories of tensors. Raises Unknown as `of`."""
        return alike(self.of(root, held) for root, held in self.storage.memories(tensors).items())

    def beside(self, part: Part) -> Dim:
        """Bytes that a node keeps beside tensors."""
        if part.gradient is None or part.repeats is None:
            return 0
        found = sum((kept_bytes(each, self.activation) for each in part.gradient.kept), 0)
        return found * part.repeats


def saved(parts: Sequence[Part], sizes: Sizes) -> Saved:
    """What these nodes need kept, each memory once."""
    found = Saved()
    first: dict[Tensor, int] = {}
    terms = []
    for at, part in enumerate(parts):
        found.by_node[at] = sizes.beside(part)
        terms.append(found.by_node[at])
        for tensor in part.saves:
            first.setdefault(tensor, at)
    for root, held in sizes.storage.memories(first).items():
        try:
            size = sizes.of(root, held)
        except Unknown as unknown:
            found.unknown[root.name] = unknown.why
            continue
        terms.append(size)
        found.by_node[first[held.by]] = found.by_node[first[held.by]] + size
        if root in sizes.storage.inputs:
            found.inputs = found.inputs + size
    found.total = alike(terms)
    return found


def forward_bytes(nodes: Iterable[NodeCost]) -> int:
    """Bytes of all that nodes write, views included, as often as they run: the plain measure of forward memory."""
    found = 0
    for node in nodes:
        if node.constant or not node.repeats or node.kind == "control_flow":
            continue
        for tensor in node.node.outputs:
            if tensor is not None:
                try:
                    found += tensor.bytes * node.repeats
                except Unknown:  # the report lists it
                    continue
    return found

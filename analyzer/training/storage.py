"""What is kept for the backward pass, each memory once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.node import BITS, Tensor
from neural_cost.analyzer.training.links import Link
from neural_cost.analyzer.training.registry import Kept
from neural_cost.analyzer.walk import NodeCost

# One memory under other shapes and names. A product reads a turned operand where it lies, an expanded one as it was.
SAME = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Transpose", "Expand", "ExpandDims"}
PARTS = {"Slice", "Split"}


class Held(NamedTuple):
    """Why a memory is kept.

    Attributes:
        by: the first tensor that lies in it.
        all: what all runs make is kept; else what each run hands on to the next one: not that of the last.
    """

    by: Tensor
    all: bool


@dataclass(frozen=True, slots=True)
class Storage:
    """In which memory each tensor lies.

    Attributes:
        same: the tensor that another one is under another name; of what a body is handed in each run, the result of
            the run before.
        whole: the tensor that another one is a part of.
        first: of what a body is handed in each run, what it is handed in the first.
        inputs: of the graph.
        loops: nodes that run a body, by its path.
    """

    same: Mapping[Tensor, Tensor]
    whole: Mapping[Tensor, Tensor]
    first: Mapping[Tensor, Tensor] = field(default_factory=dict)
    loops: Mapping[str, NodeCost] = field(default_factory=dict)
    inputs: frozenset[Tensor] = field(default_factory=frozenset)
    roots: dict[Tensor, Tensor] = field(default_factory=dict, repr=False)

    def root(self, tensor: Tensor) -> Tensor:
        """The tensor in whose memory one lies."""
        found = self.roots.get(tensor)
        if found is None:
            found, seen = tensor, set()
            while found in self.same and found not in seen:
                seen.add(found)
                found = self.same[found]
            self.roots[tensor] = found
        return found

    def memories(self, tensors: Iterable[Tensor]) -> dict[Tensor, Held]:
        """The memories of tensors that are kept, weights left out; a part of these needs none of its own."""
        found: dict[Tensor, Held] = {}
        waiting = [(tensor, tensor) for tensor in tensors]
        waiting.reverse()
        while waiting:
            tensor, by = waiting.pop()
            first = self._first(tensor)
            waiting += [] if first is None else [(first, by)]
            root = self.root(tensor)
            before = found.get(root, Held(by, all=False))
            found[root] = Held(before.by, before.all or first is None)
        return {root: held for root, held in found.items() if not root.constant and not self._is_inside(root, found)}

    def _first(self, tensor: Tensor) -> Tensor | None:
        """What a body is handed in its first run, where a tensor is what it is handed in each."""
        seen = set()
        while tensor not in self.first and tensor in self.same and tensor not in seen:
            seen.add(tensor)
            tensor = self.same[tensor]
        return self.first.get(tensor)

    def _is_inside(self, root: Tensor, kept: Mapping[Tensor, Held]) -> bool:
        while root in self.whole:
            if self.whole[root].constant:
                return True
            root = self.root(self.whole[root])
            if root in kept:
                return True
        return False


def find_storage(
    nodes: Sequence[NodeCost], links: Iterable[Link], inputs: Iterable[Tensor], loops: Mapping[str, NodeCost]
) -> Storage:
    """Read the memories of a model; `loops` are nodes that run a body, by its path."""
    same: dict[Tensor, Tensor] = {}
    first: dict[Tensor, Tensor] = {}
    whole: dict[Tensor, Tensor] = {}
    for node in (each.node for each in nodes):
        found = same if node.op_type in SAME else whole if node.op_type in PARTS else None
        source = node.input(0)
        if found is not None and source is not None:
            found.update((tensor, source) for tensor in node.outputs if tensor is not None)
    for link in links:  # "in" comes before "carried" of the same target
        if link.kind in ("in", "slice") or not _leads_to(link.source, link.target, same):
            if link.kind == "carried" and link.target in same:
                first[link.target] = same[link.target]
            same[link.target] = link.source
    return Storage(same, whole, first, loops, frozenset(inputs))


def _leads_to(tensor: Tensor, target: Tensor, same: Mapping[Tensor, Tensor]) -> bool:
    """Whether a body hands on under other names what it was handed: it is one memory in all runs."""
    while tensor in same and tensor is not target:
        tensor = same[tensor]
    return tensor is target


def bytes_of(tensor: Tensor, activation: int | None) -> Dim:
    """Bytes of a tensor that is kept, `activation` each where it is of real numbers and that is not None."""
    return tensor.size * activation if _narrows(tensor.dtype, activation) and activation else tensor.bytes


def kept_bytes(kept: Kept, activation: int | None) -> Dim:
    """Bytes of what is kept beside tensors."""
    if not kept.precise and activation and _narrows(kept.dtype, activation):
        return kept.elements * activation
    return kept.elements * (BITS[kept.dtype] // 8)


def _narrows(dtype: str | None, activation: int | None) -> bool:
    return activation is not None and dtype in ("float32", "float16", "bfloat16")

"""Which kernels run on packed channels, and the reorders that the runtime inserts where that layout begins and ends.

ONNX Runtime packs channels for convolutions on a CPU (NCHWc); what is elementwise or pools after them stays so, and all
else needs the file's own layout back. Each tensor is reordered once in each direction, however many read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from neural_cost.analyzer.fusion.graph import FusionGraph, Group
from neural_cost.analyzer.fusion.patterns import is_packed
from neural_cost.analyzer.node import Tensor, Unknown
from neural_cost.analyzer.prediction.piece import Piece, ints

RANK_2D = 4
POOLS = ("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool")
SUMS = ("Add", "Sum", "Mul")
ACTIVATIONS = ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "Clip", "HardSigmoid", "Gelu", "QuickGelu", "HardSwish")


@dataclass(frozen=True, slots=True)
class Reorder:
    """A kernel that the file does not ask for.

    Attributes:
        before: the place, in the list of groups, of the group that it is for; all of them for an output of the model.
        packs: into the packed layout, not out of it.
    """

    tensor: str
    before: int
    packs: bool
    piece: Piece


@dataclass(slots=True)
class Layout:
    """What is packed, group by group.

    Attributes:
        packed: places, in the list of groups, of those that run on packed channels.
    """

    graph: FusionGraph
    groups: Sequence[Group]
    packed: set[int] = field(default_factory=set)
    reorders: list[Reorder] = field(default_factory=list)
    _there: dict[bool, set[str]] = field(default_factory=lambda: {True: set(), False: set()})

    @classmethod
    def of(cls, graph: FusionGraph, groups: Sequence[Group]) -> Layout:
        """Go through all groups in their order."""
        found = cls(graph, groups)
        if graph.block:
            for place, group in enumerate(groups):
                found._visit(place, group)
            found._end()
        return found

    @property
    def _block(self) -> int:
        """Channels that are packed together; only asked where there are some."""
        return self.graph.block or 1

    def _visit(self, place: int, group: Group) -> None:
        inputs = list(self._inputs(group))
        packed = self._is_packed(group, inputs)
        anchor = self.graph.node(group.anchor)
        first = packed and self._reads_as_it_is(group)
        if packed:
            self.packed.add(place)
        for tensor in inputs:
            self._need(tensor, place, packed and not (first and tensor is anchor.input(0)))
        for each in group.places:
            for made in self.graph.node(each).outputs:
                if made is not None:
                    self._there[packed].add(self.graph.source(made.name))

    def _end(self) -> None:
        """What the model returns is in the file's own layout."""
        for name in self.graph.returned:
            if (writer := self.graph.writers.get(name)) is not None:
                made = next(t for t in self.graph.node(writer).outputs if t is not None and t.name == name)
                self._need(made, len(self.groups), packs=False)

    def _need(self, tensor: Tensor, place: int, packs: bool) -> None:
        name = self.graph.source(tensor.name)
        if name in self._there[packs] or (not packs and name not in self._there[True]):
            return
        self._there[packs].add(name)
        try:
            batch, channels, *sides = ints(tensor)
        except (Unknown, ValueError):
            return
        kind = "ReorderInput" if packs else "ReorderOutput"
        self.reorders.append(Reorder(name, place, packs, Piece(kind, (batch * channels, prod(sides)))))

    def _is_packed(self, group: Group, inputs: Sequence[Tensor]) -> bool:
        graph, op = self.graph, self.graph.op(group.anchor)
        node = graph.node(group.anchor)
        x = node.input(0)
        if op == "Conv":
            return bool(is_packed(graph, group.anchor))
        if x is None or x.dims is None or len(x.dims) != RANK_2D or self.graph.nodes[group.anchor].graph != "main":
            return False
        channels = x.dims[1]
        whole = isinstance(channels, int) and channels % self._block == 0
        if op in POOLS:
            return whole and node.output(1) is None
        there = [self.graph.source(tensor.name) in self._there[True] for tensor in inputs]
        if op in SUMS:
            return bool(there) and all(there) and len({tensor.dims for tensor in inputs}) == 1
        if op == "Concat":
            aligned = all(t.dims is not None and int(t.dims[1] or 0) % self._block == 0 for t in inputs)
            return int(node.attr("axis", 0)) == 1 and all(there) and aligned
        return op in (*ACTIVATIONS, "BatchNormalization") and bool(there) and there[0]

    def _reads_as_it_is(self, group: Group) -> bool:
        """Whether it is a convolution of few channels, which reads the file's own layout."""
        weight = self.graph.node(group.anchor).input(1)
        if self.graph.op(group.anchor) != "Conv" or weight is None or weight.dims is None:
            return False
        return self.graph.node(group.anchor).attr("group", 1) == 1 and int(weight.dims[1] or 0) < self._block

    def _inputs(self, group: Group) -> Iterator[Tensor]:
        """What comes from outside of the group and is no constant."""
        made = {t.name for place in group.places for t in self.graph.node(place).outputs if t is not None}
        for place in group.places:
            for tensor in self.graph.activations(place):
                if tensor.name not in made and self.graph.source(tensor.name) not in made:
                    yield tensor

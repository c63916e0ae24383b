"""A kernel with the nodes of the file that it computes, and what makes and reads the tensors around it."""

from __future__ import annotations

from dataclasses import dataclass, field

from neural_cost.runtime.mapping.executed import ExecutedNode


@dataclass(eq=False)
class Claim:
    """A kernel, and the places of the source nodes that it computes.

    Attributes:
        graph: of the file, "main" or the path of a body.
        level: the executed graph that it is in.
        places: of its nodes in the report's list.
        twins: those of the places whose result another of them makes: the kernel computes them once.
        inserted: it does nothing that the file asks for: it only moves data or converts its type.
        joins: it has no node of its own, as it does a part of what this other kernel does.
        doubles: the kernel whose nodes it computes once more.
        serves: of an inserted kernel, the places of the nodes on whose behalf it runs: all those of one kernel.
    """

    node: ExecutedNode
    graph: str
    level: Level
    places: list[int] = field(default_factory=list)
    twins: set[int] = field(default_factory=set)
    inserted: bool = False
    joins: Claim | None = None
    doubles: Claim | None = None
    serves: list[int] = field(default_factory=list)

    @property
    def joined(self) -> bool:
        """Whether its places are those of another kernel."""
        return self.joins is not None


@dataclass(eq=False)
class Level:
    """The kernels of one executed graph by the tensors that they make and read; `outer` is the graph around it."""

    outer: Level | None = None
    makers: dict[str, Claim] = field(default_factory=dict)
    own_readers: dict[str, list[Claim]] = field(default_factory=dict)

    def add(self, claim: Claim) -> None:
        """Take in a kernel, those before which it runs come later; graphs around hear of what it reads from them."""
        self.makers |= dict.fromkeys(claim.node.outputs, claim)
        for name in dict.fromkeys(claim.node.inputs):
            level: Level | None = self
            while level is not None:
                level.own_readers.setdefault(name, []).append(claim)
                level = None if name in level.makers else level.outer

    def maker(self, name: str) -> Claim | None:
        """The kernel that makes a tensor, in this graph or in one around it."""
        if name in self.makers:
            return self.makers[name]
        return None if self.outer is None else self.outer.maker(name)

    def readers(self, name: str) -> list[Claim]:
        """The kernels that read a tensor which this graph makes, in the order in which they run."""
        return self.own_readers.get(name, [])

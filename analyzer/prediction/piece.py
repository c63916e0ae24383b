"""Piece: a part of a kernel that was timed by itself; and Job: the group of nodes that pieces are found for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from neural_cost.analyzer.fusion.graph import FusionGraph, Group
from neural_cost.analyzer.node import Node, Tensor, Unknown


class Piece(NamedTuple):
    """Work that takes as long as a kernel that was timed, some times over.

    Attributes:
        kind: of kernel, as `runtime/calibrate/kernels` names it; the functions that make pieces say what its sizes are.
        times: how often, or by what factor where this kernel differs from the one that was timed.
        guess: it is only like the kernel that was timed.
    """

    kind: str
    sizes: tuple[float, ...]
    times: float = 1.0
    guess: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Job:
    """A group, seen from its anchor.

    Attributes:
        packed: it runs on packed channels, and `block` of them are together.
    """

    graph: FusionGraph
    group: Group
    packed: bool
    block: int

    @property
    def node(self) -> Node:
        """The anchor."""
        return self.graph.node(self.group.anchor)

    @property
    def kernel(self) -> str:
        """The operator that the runtime makes of it, without its domain."""
        return self.group.kernel.split("::")[-1]

    @property
    def made(self) -> Tensor:
        """What the group makes, by its last node. Raises Unknown where it has no output."""
        return self.graph.node(self.group.places[-1]).y

    def weight(self, index: int) -> bool:
        """Whether an input is there and is constant."""
        tensor = self.node.input(index)
        return tensor is not None and tensor.constant


def ints(tensor: Tensor | None) -> tuple[int, ...]:
    """The shape in numbers. Raises Unknown where it is not known."""
    if tensor is None:
        raise Unknown("an input is missing")
    return tuple(int(dim) for dim in tensor.shape)


def count(tensor: Tensor | None) -> int:
    """Elements."""
    return prod(ints(tensor))


def grown(size: int, block: int) -> int:
    """Rounded up to whole blocks."""
    return -(-size // block) * block if block else size


def tail(dims: Sequence[int], axis: int) -> int:
    """Elements that lie together behind an axis, that axis with them."""
    return prod(dims[axis:])


def together(whole: Tensor | None, taken: Tensor | None) -> int:
    """Elements of the smaller tensor that lie together in the larger one: up to the last axis whose size differs."""
    large, small = ints(whole), ints(taken)
    length = 1
    for index, size in enumerate(reversed(small)):
        length *= size
        if index >= len(large) or large[len(large) - 1 - index] != size:
            break
    return length

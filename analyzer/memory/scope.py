"""A graph as memory sees it: steps that read and write tensors, and the bodies that they run."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.memory.kernels import NO_TRAITS, Traits

Key: TypeAlias = Hashable  # a tensor: a graph and its bodies may use one name for different ones


@dataclass(frozen=True, slots=True)
class Step:
    """One node that runs at inference.

    Attributes:
        index: position in the file, or in the body.
        reads: activations that it needs, those that its bodies capture among them; each once.
        writes: what it makes, unused outputs too.
        traits: how it shares memory.
        bodies: what it runs; where one is chosen in the run, each that it may be, and `exclusive` is true.
        piled: outputs made of what each run of a body gives, which is kept until the last run.
    """

    index: int
    name: str
    op_type: str
    reads: tuple[Key, ...]
    writes: tuple[Key, ...]
    traits: Traits = NO_TRAITS
    bodies: tuple[Inner, ...] = ()
    exclusive: bool = False
    piled: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """One graph: its steps in the order of the file.

    Attributes:
        inputs: held from the beginning to the end.
        outputs: what steps make and the caller gets: held from then on to the end, in memory of its own.
    """

    steps: tuple[Step, ...]
    inputs: tuple[Key, ...]
    outputs: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Inner:
    """A body, and how it meets the graph around it.

    Attributes:
        times: how often it runs; None where that is not known.
        lent: those of its inputs that are memory of the graph around it, at least in the first run.
        scanned: those that are so in every run: slices of what a Scan goes through.
    """

    name: str
    scope: Scope
    times: Dim | None
    lent: frozenset[Key] = frozenset()
    scanned: frozenset[Key] = frozenset()

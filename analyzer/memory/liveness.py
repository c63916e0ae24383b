"""Liveness: how many bytes are alive at each step of a graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from neural_cost.analyzer.cost import Dim, ceil_div, maximum, minimum
from neural_cost.analyzer.memory.lives import Life, kept, lives
from neural_cost.analyzer.memory.scope import Inner, Key, Scope, Step
from neural_cost.analyzer.memory.sharing import fused

ALIGNMENT = 256  # bytes: ONNX Runtime's arena gives memory in multiples of it


class Policy(Enum):
    """How a runtime is taken to share memory.

    LOWER: what may be written over its inputs is, and a convolution adds into the other operand of a sum.
    PLAIN: every tensor has memory of its own, from the step that makes it to the last that reads it.
    PLANNED: as ONNX Runtime plans the graph: its kernels write over their first input where they can, and free memory
        is kept for the next tensor of its shape.
    UPPER: as PLAIN, in units of the arena; and free memory is kept for the next tensor of its shape.
    """

    LOWER = "lower"
    PLAIN = "plain"
    PLANNED = "planned"
    UPPER = "upper"


@dataclass(frozen=True, slots=True)
class Method:
    """How bytes are found: the bytes of each tensor, the order of steps, and how memory is shared.

    `forms` are shapes with element sizes: memory is kept for tensors of equal forms.
    """

    sizes: Mapping[Key, Dim]
    order: Callable[[Scope], Sequence[Step]]
    policy: Policy = Policy.PLAIN
    forms: Mapping[Key, Hashable] | None = None

    def weight(self, key: Key) -> Dim:
        """Bytes that a tensor takes."""
        size = self.sizes[key]
        return ceil_div(size, ALIGNMENT) * ALIGNMENT if self.policy is Policy.UPPER else size

    def total(self, keys: Sequence[Key]) -> Dim:
        """Bytes that several take."""
        result: Dim = 0
        for key in keys:
            result = result + self.weight(key)
        return result


@dataclass(frozen=True, slots=True)
class Level:
    """Bytes alive at a step: the largest of several sums, for a step goes through several states.

    Its outputs may lie over its inputs, which may be larger or smaller; and bodies run.
    """

    step: Step
    sums: tuple[Dim, ...]


def levels(scope: Scope, method: Method, without: frozenset[Key] = frozenset()) -> list[Level]:
    """Bytes alive at each step, `without` tensors that lie in memory of a graph around this one."""
    steps = method.order(scope)
    found = lives(scope, steps)
    if method.policy in (Policy.UPPER, Policy.PLANNED):
        found = kept(found, scope, steps, method.forms or {}, in_place=method.policy is Policy.PLANNED)
    found = [life for life in found if life.key not in without]
    weights = {life.key: method.weight(life.key) for life in found}
    if method.policy is Policy.LOWER:
        weights |= fused(scope, steps, found, weights)
    held = sum((weights[life.key] for life in found if life.birth < 0), 0)
    born, dying = _by_step(found, len(steps))
    result = []
    for position, step in enumerate(steps):
        made = sum((weights[key] for key in born[position]), 0)
        over = sum((weights[key] for key in dying[position] if key not in born[position]), 0)
        outputs = any(key in scope.outputs for key in born[position])
        result.append(Level(step, tuple(_sums(step, method, _At(held, made, over, outputs)))))
        held = held + made - sum((weights[key] for key in dying[position]), 0)
    return result


@dataclass(frozen=True, slots=True)
class _At:
    """Bytes at a step: held before it, made by it, and of what is held those that nothing needs after it."""

    held: Dim
    made: Dim
    over: Dim
    outputs: bool  # it makes outputs, which lie in memory of their own


def _sums(step: Step, method: Method, at: _At) -> Iterator[Dim]:
    """The states that a step goes through."""
    lower = method.policy is Policy.LOWER
    if lower and step.traits.overwrites and not at.outputs:
        yield at.held
        yield at.held - at.over + at.made
        return
    yield at.held + at.made
    inside = [list(_inside(body, method)) for body in step.bodies]
    if lower and step.exclusive:
        inside = [[minimum_of([maximum_of(sums) for sums in inside])]]
    around = at.held if lower else at.held + at.made  # outputs may be made after the bodies
    if method.policy in (Policy.UPPER, Policy.PLANNED):
        around = around + method.total(step.piled)
    for sums in inside:
        for each in sums:
            yield around + each


def _inside(body: Inner, method: Method) -> Iterator[Dim]:
    """Bytes alive in a body at each of its steps.

    In the lower figure these are those of its first run, if it surely runs; in the others, of one that another went
    before: what it gets is then memory of its own. A number of runs that depends on open dimensions may be 0.
    """
    lower = method.policy is Policy.LOWER
    if body.times is None:
        runs: Dim = 0 if lower else 1
    else:
        runs = minimum(body.times, 1)
    without = body.lent | body.scanned if lower else body.scanned
    for level in levels(body.scope, method, without):
        for each in level.sums:
            yield runs * each
    yield runs * method.total([key for key in body.scope.inputs if key not in without])  # a body without steps


def _by_step(found: Sequence[Life], count: int) -> tuple[list[list[Key]], list[list[Key]]]:
    """Tensors by the step that makes them, and by the last that needs them."""
    born: list[list[Key]] = [[] for _ in range(count)]
    dying: list[list[Key]] = [[] for _ in range(count)]
    for life in found:
        if life.birth >= 0:
            born[life.birth].append(life.key)
        if life.death < count:
            dying[life.death].append(life.key)
    return born, dying


def maximum_of(sums: Sequence[Dim]) -> Dim:
    """The largest of several; 0 of none."""
    result: Dim = 0
    for each in dict.fromkeys(sums):
        result = maximum(result, each)
    return result


def minimum_of(sums: Sequence[Dim]) -> Dim:
    """The smallest of several."""
    result = sums[0]
    for each in sums[1:]:
        result = minimum(result, each)
    return result

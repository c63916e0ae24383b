"""Lives: from which step to which each tensor of a graph needs memory."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from neural_cost.analyzer.memory.scope import Key, Scope, Step


@dataclass(frozen=True, slots=True)
class Life:
    """A tensor with the views of it: from the step that makes it, -1 for an input, to the last that needs it.

    What is held to the end dies after the last step, at the position that is the number of steps.
    """

    key: Key
    birth: int
    death: int


def lives(scope: Scope, steps: Sequence[Step]) -> list[Life]:
    """How long each tensor is alive when the steps run in this order.

    A view is no tensor of its own, unless it is an output: that is a copy, in memory of the caller. A tensor of a
    graph around this one is not among them: that graph holds it.
    """
    end, outputs, views = len(steps), frozenset(scope.outputs), roots(scope, steps)
    births: dict[Key, int] = dict.fromkeys(scope.inputs, -1)
    deaths: dict[Key, int] = dict.fromkeys(scope.inputs, end)
    for position, step in enumerate(steps):
        for key in step.reads:
            root = views.get(key, key)
            if root in deaths:
                deaths[root] = max(deaths[root], position)
        for key in step.writes:
            if key not in views:
                births[key], deaths[key] = position, end if key in outputs else position
    return [Life(key, birth, deaths[key]) for key, birth in births.items()]


def kept(
    found: Sequence[Life],
    scope: Scope,
    steps: Sequence[Step],
    forms: Mapping[Key, Hashable],
    *,
    in_place: bool = False,
) -> list[Life]:
    """The same where memory that is free is kept for the next tensor of the same shape and element size.

    ONNX Runtime's planner lets a tensor take over the memory of a dead one of its shape, that which died last, and
    frees that memory only after its last tenant: in between it is held for nobody. Inputs and outputs take no part,
    nor do scalars (those without a form). An output that no step reads is freed by none: it stays to the end. With
    `in_place` a tensor lies over the input of its step first of all, where that dies there and the kernel allows it.
    """
    planner = _Planner(found, scope, steps, forms, in_place=in_place)
    for position, step in enumerate(steps):
        planner.place(position, step)
    return planner.result()


class _Planner:
    """Gives each tensor its memory in the order of the steps, as the owner that first had it."""

    def __init__(
        self,
        found: Sequence[Life],
        scope: Scope,
        steps: Sequence[Step],
        forms: Mapping[Key, Hashable],
        *,
        in_place: bool,
    ) -> None:
        outputs = frozenset(scope.outputs)
        self.found = {life.key: life for life in found}
        self.roots = roots(scope, steps)
        self.forms, self.in_place, self.end = forms, in_place, len(steps)
        self.born: list[list[Life]] = [[] for _ in steps]
        self.dying: list[list[Key]] = [[] for _ in steps]  # owners
        for life in found:
            if life.birth >= 0 and life.key not in outputs:
                self.born[life.birth].append(life)
        self.free: dict[Hashable, list[Key]] = {}  # owners of memory that is free by form, the last freed last
        self.owner: dict[Key, Key] = {}
        self.last: dict[Key, int] = {}

    def place(self, position: int, step: Step) -> None:
        """Find memory for what a step makes, then free what dies at it."""
        for life in self.born[position]:
            taken = self._over(position, step, life)
            taken = self._free(life) if taken is None else taken
            owner = life.key if taken is None else taken
            read = life.death > life.birth
            self.owner[life.key], self.last[owner] = owner, life.death if read else self.end
            if read:
                self.dying[life.death].append(owner)
        for owner in reversed(self.dying[position]):
            self.free.setdefault(self.forms.get(owner), []).append(owner)

    def _over(self, position: int, step: Step, life: Life) -> Key | None:
        """The memory of the step's first input, where that may be written over."""
        if not (self.in_place and step.traits.in_place and step.reads):
            return None
        owner = self.owner.get(self.roots.get(step.reads[0], step.reads[0]))
        form = self.forms.get(life.key)
        if owner not in self.dying[position] or form is None or self.forms.get(step.reads[0]) != form:
            return None
        self.dying[position].remove(owner)
        return owner

    def _free(self, life: Life) -> Key | None:
        form = self.forms.get(life.key)
        waiting = self.free.get(form) if form is not None else None
        return waiting.pop() if waiting else None

    def result(self) -> list[Life]:
        """Lives of memory: from its first tenant to its last."""
        others = [life for life in self.found.values() if life.key not in self.owner]
        return others + [Life(key, self.found[key].birth, death) for key, death in self.last.items()]


def roots(scope: Scope, steps: Sequence[Step]) -> dict[Key, Key]:
    """The tensor in whose memory each view lies; an output is a copy."""
    found: dict[Key, Key] = {}
    outputs = frozenset(scope.outputs)
    for step in steps:
        if step.traits.view and step.reads and step.writes[0] not in outputs:
            found[step.writes[0]] = found.get(step.reads[0], step.reads[0])
    return found

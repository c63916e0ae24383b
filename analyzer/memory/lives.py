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
    end, outputs = len(steps), frozenset(scope.outputs)
    roots: dict[Key, Key] = {}
    births: dict[Key, int] = dict.fromkeys(scope.inputs, -1)
    deaths: dict[Key, int] = dict.fromkeys(scope.inputs, end)
    for position, step in enumerate(steps):
        for key in step.reads:
            root = roots.get(key, key)
            if root in deaths:
                deaths[root] = max(deaths[root], position)
        for key in step.writes:
            if step.view and key not in outputs and step.reads:
                roots[key] = roots.get(step.reads[0], step.reads[0])
            else:
                births[key], deaths[key] = position, end if key in outputs else position
    return [Life(key, birth, deaths[key]) for key, birth in births.items()]


def kept(found: Sequence[Life], scope: Scope, steps: Sequence[Step], forms: Mapping[Key, Hashable]) -> list[Life]:
    """The same where memory that is free is kept for the next tensor of the same shape and element size.

    ONNX Runtime's planner lets a tensor take over the memory of a dead one of its shape, that which died last, and
    frees that memory only after its last tenant: in between it is held for nobody. Inputs and outputs take no part,
    nor do scalars (a form of None). An output that no step reads is freed by none: it stays to the end.
    """
    outputs = frozenset(scope.outputs)
    born: list[list[Life]] = [[] for _ in steps]
    dying: list[list[Key]] = [[] for _ in steps]
    for life in found:
        if life.birth >= 0 and life.key not in outputs:
            born[life.birth].append(life)
    free: dict[Hashable, list[Key]] = {}  # owners of memory that is free by form, the last freed last
    first: dict[Key, Life] = {}
    last: dict[Key, int] = {}
    for position in range(len(steps)):
        for life in born[position]:
            form = forms.get(life.key)
            waiting = free.get(form)
            owner = waiting.pop() if waiting and form is not None else life.key
            if owner == life.key:
                first[owner] = life
            read = life.death > life.birth
            last[owner] = life.death if read else len(steps)
            if read:
                dying[life.death].append(owner)
        for owner in reversed(dying[position]):
            free.setdefault(forms.get(owner), []).append(owner)
    others = [life for life in found if life.key not in first and (life.birth < 0 or life.key in outputs)]
    return others + [Life(key, life.birth, last[key]) for key, life in first.items()]

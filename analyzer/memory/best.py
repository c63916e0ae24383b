"""An order that needs little memory: what reordering could save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from neural_cost.analyzer.memory.liveness import Level, Method, Policy, levels, maximum_of
from neural_cost.analyzer.memory.lives import Life, lives, roots
from neural_cost.analyzer.memory.orders import file_order, needed
from neural_cost.analyzer.memory.scope import Key, Scope, Step

BEAM = 16
MOST_STEPS = 5000
MOST_MOVES = 400_000  # states looked at: with more steps the beam is narrower, and then there is no search


def best_order(scope: Scope, method: Method) -> list[Step]:
    """An order of a small peak by the plain figure, found by a beam search; never worse than the file's order.

    Step by step it keeps the `BEAM` best states, a state being the set of steps that have run: those with the
    smallest peak so far, then those with the fewest bytes alive. It is a heuristic: the least peak may be smaller.
    Bodies keep the order of the file, and so does a graph that is too large to be searched.
    """
    if len(scope.steps) > MOST_STEPS:
        return list(scope.steps)
    method = replace(method, policy=Policy.PLAIN, order=file_order)
    as_written = levels(scope, method)
    peak = maximum_of([maximum_of(level.sums) for level in as_written])
    search = _Search(scope, method, as_written)
    found = search.run(max(1, min(BEAM, MOST_MOVES // max(1, len(scope.steps) ** 2))), peak)
    return list(scope.steps) if found is None else [scope.steps[at] for at in found]


class _State(NamedTuple):
    """Steps that have run, as bits; `came` are the last of them and the state before it."""

    peak: int
    alive: int
    done: int
    ready: frozenset[int]
    came: tuple[int, _State] | None


@dataclass(frozen=True, slots=True)
class _Tensor:
    """Bytes, and as bits the steps that read it; one that is held has a bit that no step clears."""

    size: int
    readers: int


class _Search:
    def __init__(self, scope: Scope, method: Method, as_written: Sequence[Level]) -> None:
        needs = needed(scope)
        found = lives(scope, scope.steps)
        self.count = len(scope.steps)
        self.needs = [sum(1 << each for each in step) for step in needs]
        self.next: list[list[int]] = [[] for _ in needs]
        for position, each in enumerate(needs):
            for earlier in each:
                self.next[earlier].append(position)
        self.held = method.total([life.key for life in found if life.birth < 0])
        self.born, self.read = self._tensors(scope, method, found)
        self.inside = _inside(as_written, method, found)

    def _tensors(
        self, scope: Scope, method: Method, found: Sequence[Life]
    ) -> tuple[list[list[_Tensor]], list[list[_Tensor]]]:
        """What each step makes, and what it reads of that."""
        readers = _readers(scope)
        born: list[list[_Tensor]] = [[] for _ in scope.steps]
        read: list[list[_Tensor]] = [[] for _ in scope.steps]
        for life in found:
            if life.birth < 0:
                continue
            bits = readers.get(life.key, set())
            kept = 1 << self.count if life.death == self.count else 0
            tensor = _Tensor(method.weight(life.key), sum(1 << at for at in bits) | kept)
            born[life.birth].append(tensor)
            for at in bits:
                read[at].append(tensor)
        return born, read

    def run(self, beam: int, peak: int) -> list[int] | None:
        """The steps in an order whose peak is smaller than `peak`; None where none is found."""
        start = frozenset(at for at, needs in enumerate(self.needs) if not needs)
        states = [_State(0, self.held, 0, start, None)]
        moves = 0
        for _ in range(self.count):
            found: dict[int, _State] = {}
            for state in states:
                moves += len(state.ready)
                if moves > MOST_MOVES:
                    return None
                for each in self._moves(state):
                    known = found.get(each.done)
                    if each.peak < peak and (known is None or each.peak < known.peak):
                        found[each.done] = each
            states = sorted(found.values(), key=lambda each: each[:2])[:beam]
        return _path(states[0]) if states else None

    def _moves(self, state: _State) -> Iterator[_State]:
        for at in state.ready:
            done = state.done | 1 << at
            during = state.alive + sum(tensor.size for tensor in self.born[at])
            gone = sum(tensor.size for tensor in self.read[at] if not tensor.readers & ~done)
            gone += sum(tensor.size for tensor in self.born[at] if not tensor.readers)
            new = [each for each in self.next[at] if not self.needs[each] & ~done]
            ready = state.ready.difference((at,)).union(new)
            yield _State(max(state.peak, during + self.inside[at]), during - gone, done, ready, (at, state))


def _readers(scope: Scope) -> dict[Key, set[int]]:
    """The steps that read each tensor or a view of it."""
    views = roots(scope, scope.steps)
    readers: dict[Key, set[int]] = {}
    for position, step in enumerate(scope.steps):
        for key in step.reads:
            readers.setdefault(views.get(key, key), set()).add(position)
    return readers


def _inside(as_written: Sequence[Level], method: Method, found: Sequence[Life]) -> list[int]:
    """Bytes that the bodies of each step add to what is alive around them."""
    inside = []
    for position, level in enumerate(as_written):
        alive = method.total([life.key for life in found if life.birth <= position <= life.death])
        inside.append(max(level.sums) - alive)
    return inside


def _path(state: _State) -> list[int]:
    order = []
    while state.came is not None:
        at, state = state.came
        order.append(at)
    return order[::-1]

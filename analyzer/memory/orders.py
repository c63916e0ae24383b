"""Orders in which the steps of a graph can run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neural_cost.analyzer.memory.scope import Key, Scope, Step


def file_order(scope: Scope) -> Sequence[Step]:
    """As the file has them."""
    return scope.steps


def runtime_order(scope: Scope) -> Sequence[Step]:
    """As ONNX Runtime runs them by default.

    From the last step whose outputs no step reads, depth first to what it needs, the latest first; each runs once
    all it needs has run. Found in its source (`GraphViewer`, `Graph::ReverseDFSFrom`), and held against traces.
    """
    needs = needed(scope)
    read = {position for each in needs for position in each}
    stack = [(position, False) for position in range(len(scope.steps)) if position not in read]
    seen: set[int] = set()
    order: list[Step] = []
    while stack:
        position, done = stack.pop()
        if done:
            order.append(scope.steps[position])
        elif position not in seen:
            seen.add(position)
            stack.append((position, True))
            stack += [(each, False) for each in sorted(needs[position]) if each not in seen]
    return order


def needed(scope: Scope) -> list[set[int]]:
    """For each step the positions of the steps that make what it reads."""
    made: Mapping[Key, int] = {key: position for position, step in enumerate(scope.steps) for key in step.writes}
    return [{made[key] for key in step.reads if key in made} for step in scope.steps]

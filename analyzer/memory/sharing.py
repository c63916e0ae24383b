"""What a runtime may leave out: tensors that lie inside another, or inside the kernel that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from neural_cost.analyzer.cost import Dim, maximum
from neural_cost.analyzer.memory.lives import Life
from neural_cost.analyzer.memory.scope import Key, Scope, Step

Weights = Mapping[Key, Dim]


def fused(scope: Scope, steps: Sequence[Step], found: Sequence[Life], weights: Weights) -> dict[Key, Dim]:
    """What tensors weigh for which fused kernels need less memory, or none."""
    readers: dict[Key, list[int]] = {}
    for position, step in enumerate(steps):
        for key in step.reads:
            readers.setdefault(key, []).append(position)
    return _added(scope, steps, found, weights, readers) | _quantized(steps, readers)


def _quantized(steps: Sequence[Step], readers: Mapping[Key, Sequence[int]]) -> dict[Key, Dim]:
    """Quantized activations that only the products read which may quantize themselves: nothing."""
    found: dict[Key, Dim] = {}
    for step in steps:
        if step.traits.quantizes and all(steps[at].traits.multiplies for at in readers.get(step.writes[0], ())):
            found[step.writes[0]] = 0
    return found


def _added(
    scope: Scope, steps: Sequence[Step], found: Sequence[Life], weights: Weights, readers: Mapping[Key, Sequence[int]]
) -> dict[Key, Dim]:
    """What tensors weigh that a convolution adds into another: nothing, where that is as large.

    The other operand must be there before the convolution, and nothing may need it after the sum.
    """
    lives = {life.key: life for life in found}
    result: dict[Key, Dim] = {}
    taken: set[Key] = set()
    for position, step in enumerate(steps):
        if not step.traits.convolves or len(step.writes) != 1:
            continue
        chain = list(_chain(step.writes[0], steps, readers))
        at = readers[chain[-1]][0] if chain else 0
        if not chain or not steps[at].traits.adds or any(key in scope.outputs or key not in lives for key in chain):
            continue
        others = [key for key in steps[at].reads if key != chain[-1]]
        other = lives.get(others[0]) if len(others) == 1 else None
        if other is not None and other.birth < position and other.death == at and other.key not in taken:
            taken.add(other.key)
            result |= {key: maximum(0, weights[key] - weights[other.key]) for key in chain}
    return result


def _chain(key: Key, steps: Sequence[Step], readers: Mapping[Key, Sequence[int]]) -> Iterator[Key]:
    """From a tensor through elementwise steps of one operand to the sum, each the only reader of the one before."""
    while len(readers.get(key, ())) == 1:
        yield key
        step = steps[readers[key][0]]
        if step.traits.adds or not step.traits.overwrites or len(step.reads) != 1 or len(step.writes) != 1:
            return
        key = step.writes[0]

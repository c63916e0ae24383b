"""Sizes at which a graph fits, for dimensions that nobody gave: what its own conditions ask for, or small trials.

A window needs its input to be large enough; trying rising sizes finds that. An inner dimension of 13 needs exactly 13:
each condition that is broken says with which sizes two of its dimensions would be equal, and these are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from math import prod
from queue import PriorityQueue

import onnx_ir as ir

from neural_cost.analyzer.conditions import LARGE, Condition, broken, range_around
from neural_cost.analyzer.expressions import Formula

Sizes = dict[str, int]
TRIES = 48  # points from which conditions are asked; each dimension takes about one
MOST_TOGETHER = 3  # dimensions that are made the same


def fitting(conditions: Sequence[Condition], at: Mapping[str, int]) -> Sizes | None:
    """Sizes at which the graph fits, each the least with the others so; None where none were found."""
    sizes = _alike(conditions, at) or _asked(conditions, at)
    if sizes is None:
        return None
    for name in sizes:
        sizes[name] = range_around(conditions, sizes, name).least
    return sizes


def _alike(conditions: Sequence[Condition], at: Mapping[str, int]) -> Sizes | None:
    """The least power of two that fits for all of them."""
    size = 1
    while broken(conditions, dict.fromkeys(at, size)) is not None:
        size *= 2
        if size > LARGE:
            return None
    return dict.fromkeys(at, size)


def _asked(conditions: Sequence[Condition], at: Mapping[str, int]) -> Sizes | None:
    """What the broken conditions ask for, from the point with the fewest of them on."""
    order = count()
    queue: PriorityQueue[tuple[int, int, Sizes]] = PriorityQueue()
    seen: set[tuple[int, ...]] = set()

    def put(sizes: Sizes) -> bool:
        """Whether a point fits; one that is new is kept for later."""
        if tuple(sizes.values()) in seen:
            return False
        seen.add(tuple(sizes.values()))
        wrong = sum(condition.broken(sizes) is not None for condition in conditions)
        queue.put((wrong, next(order), sizes))
        return wrong == 0

    put(dict.fromkeys(at, 1))
    for _ in range(TRIES):
        if queue.empty():
            return None
        _, _, sizes = queue.get()
        for names, size in _wishes(conditions, sizes):
            if put(changed := {**sizes, **dict.fromkeys(names, size)}):
                return changed
    return None


def _wishes(conditions: Sequence[Condition], sizes: Sizes) -> Iterator[tuple[Sequence[str], int]]:
    """Sizes of a dimension with which two sizes of a broken condition would be equal.

    Those of several dimensions at once come first, the last ones before: height and width are more likely the same
    than one of them 1, and a batch is more likely 1 than what a window needs.
    """
    wishes: dict[tuple[tuple[str, ...], int], None] = {}
    for condition in conditions:
        if condition.broken(sizes) is None:
            continue
        found = list(_terms(condition))
        targets = {target for each in found if (target := each.at(sizes)) > 0} | set(_wanted(condition))
        for each in found:
            for names in each.together():
                wishes |= {(names, size): None for target in targets if (size := each.solved(sizes, names, target))}
    yield from sorted(wishes, key=lambda wish: -len(wish[0]))


@dataclass(frozen=True)
class Term:
    """A dimension, or the elements of a tensor: a product of dimensions."""

    factors: Sequence[Formula | int | None]

    def at(self, sizes: Mapping[str, int]) -> int:
        """Its size."""
        return prod(each(sizes) if isinstance(each, Formula) else each or 0 for each in self.factors)

    def together(self) -> Iterator[tuple[str, ...]]:
        """The dimensions that it depends on, each and as many as are tried together, the last first."""
        used = {symbol.name for each in self.factors if isinstance(each, Formula) for symbol in each.symbols}
        names = [name for each in self.factors if isinstance(each, Formula) for name in each.names if name in used]
        ordered = list(dict.fromkeys(names))[::-1]
        for number in range(1, min(len(ordered), MOST_TOGETHER) + 1):
            yield from combinations(ordered, number)

    def solved(self, sizes: Sizes, names: Sequence[str], target: int) -> int | None:
        """The least value of dimensions that makes it what is wanted, as it rises; None where none does, or all do."""

        def at(value: int) -> int:
            return self.at({**sizes, **dict.fromkeys(names, value)})

        low, high = 0, LARGE
        if at(1) == at(2) == at(high) or at(high) < target:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if at(middle) < target else (low, middle)
        return high if at(high) == target else None


def _terms(condition: Condition) -> Iterator[Term]:
    """What of a condition may have to be equal."""
    for _, dims in condition.shapes:
        yield from (Term([dim]) for dim in dims)
        yield Term(dims)


def _wanted(condition: Condition) -> Iterator[int]:
    """What else a dimension may have to be: all parts of a Split, channels of all groups of a convolution."""
    known = dict(condition.shapes)
    outputs = [[dim for dim in known.get(value, ()) if isinstance(dim, int)] for value in condition.node.outputs]
    yield from (sum(dims) for dims in zip(*outputs, strict=False))
    group = condition.node.attributes.get("group")
    if group is not None and group.type == ir.AttributeType.INT:
        yield from (dim * group.as_int() for dims in known.values() for dim in dims if isinstance(dim, int))

"""The equation of an Einsum, and the contractions that it stands for. Registers no rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from neural_cost.analyzer.cost import Dim, maximum, prod
from neural_cost.analyzer.node import Unknown


class Contractions(NamedTuple):
    """The work of an equation: MACs of each pairwise contraction in order, and the adds of a lone operand's sum."""

    products: list[Dim]
    adds: Dim


def contractions(equation: str, shapes: Sequence[Sequence[Dim]]) -> Contractions:
    """Contract operands from left to right; a label leaves as soon as neither the result nor a later operand has it.

    Raises Unknown where the equation does not fit the operands.
    """
    terms, result = _terms(equation, [len(shape) for shape in shapes])
    sizes = _sizes(terms, shapes)
    if len(terms) == 1:
        summed = set(terms[0]) - set(result)
        return Contractions([], _volume(terms[0], sizes) if summed else 0)
    products: list[Dim] = []
    left = set(terms[0])
    for position, term in enumerate(terms[1:], start=2):
        labels = left | set(term)
        products.append(_volume(labels, sizes))
        left = labels & set(result).union(*terms[position:])
    return Contractions(products, 0)


def _volume(labels: Sequence[str] | set[str], sizes: dict[str, Dim]) -> Dim:
    """Multiply the sizes of the distinct labels."""
    return prod(sizes[label] for label in sorted(set(labels)))


def _terms(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """Split an equation into the labels of each operand and of the result; an ellipsis becomes labels "...1", "...0".

    The ellipsis broadcasts from the right, so its labels count down to the last axis. A result that is not
    written has the ellipsis and then, in alphabetical order, each label that stands once.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    written = left.split(",")
    if len(written) != len(ranks):
        raise Unknown(f"equation {equation!r} has {len(written)} terms for {len(ranks)} operands")
    widths = [rank - len(term.replace("...", "")) for term, rank in zip(written, ranks, strict=True)]
    if any(width < 0 or (width and "..." not in term) for term, width in zip(written, widths, strict=True)):
        raise Unknown(f"equation {equation!r} does not fit operands of {', '.join(map(str, ranks))} dimensions")
    terms = [_labels(term, width) for term, width in zip(written, widths, strict=True)]
    widest = max(widths)
    if arrow:
        return terms, _labels(right, widest if "..." in right else 0)
    times = Counter(label for term in written for label in term.replace("...", ""))
    once = sorted(label for label, count in times.items() if count == 1)
    return terms, _labels("...", widest) + once


def _labels(term: str, width: int) -> list[str]:
    """List the labels of one term, the ellipsis spelled out to so many axes."""
    before, dots, after = term.partition("...")
    axes = [f"...{axis}" for axis in reversed(range(width))] if dots else []
    return [*before, *axes, *after]


def _sizes(terms: Sequence[Sequence[str]], shapes: Sequence[Sequence[Dim]]) -> dict[str, Dim]:
    """Give each label its size: operands agree on it, or have 1 and are broadcast."""
    sizes: dict[str, Dim] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for label, dim in zip(term, shape, strict=True):
            known = sizes.get(label, 1)
            sizes[label] = dim if known == 1 else known if dim == 1 else maximum(known, dim)
    return sizes

"""The activation peak as a formula: the largest of the sums that no other one always exceeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.expressions import Formula
from neural_cost.analyzer.memory.liveness import Method, levels
from neural_cost.analyzer.memory.orders import file_order
from neural_cost.analyzer.memory.reading import Activations

MOST_CANDIDATES = 64  # more are no formula that anybody reads


def peak_formula(found: Activations, names: Sequence[str]) -> Formula | None:
    """The plain peak in the dimensions that nobody gave, exact at every size; None where there is no formula.

    It is piecewise, `Max(...)`, where the peak moves to another node as dimensions grow.
    """
    sizes = None if found.unknown else found.opened()
    if sizes is None:
        return None
    sums = [each for level in levels(found.scope, Method(sizes, file_order)) for each in level.sums]
    candidates = undominated(sums)
    if len(candidates) > MOST_CANDIDATES:
        return None
    return Formula(_largest(candidates), names)


def undominated(sums: Iterable[Dim]) -> list[Any]:
    """Those of several expressions that are not everywhere at most another one, every symbol being 1 or more.

    One expression is nowhere more than another if their difference, written in how much each symbol exceeds 1, has no
    positive coefficient. That is sufficient, not necessary: some may stay that another one always exceeds.
    """
    kept: list[tuple[Any, Mapping[Any, Any]]] = []
    for each in dict.fromkeys(sums):
        terms = _terms(each)
        if any(_at_most(terms, other) for _, other in kept):
            continue
        kept = [(one, other) for one, other in kept if not _at_most(other, terms)]
        kept.append((each, terms))
    return [each for each, _ in kept]


def _largest(candidates: Sequence[Any]) -> Any:
    import sympy

    return candidates[0] if len(candidates) == 1 else sympy.Max(*candidates) if candidates else 0


def _terms(expression: Any) -> Mapping[Any, Any]:
    """Coefficients by monomial: of how much each symbol exceeds 1, and of what is no polynomial (a rounding)."""
    import sympy

    expression = sympy.sympify(expression)
    shifted = expression.subs({symbol: symbol + 1 for symbol in expression.free_symbols}, simultaneous=True)
    coefficients: Mapping[Any, Any] = sympy.expand(shifted).as_coefficients_dict()
    return coefficients


def _at_most(first: Mapping[Any, Any], second: Mapping[Any, Any]) -> bool:
    """Whether the first is nowhere larger: no term of the difference is positive, or of unknown sign."""
    for monomial in first.keys() | second.keys():
        more = first.get(monomial, 0) - second.get(monomial, 0)
        if more > 0 or (more < 0 and not (monomial.is_nonnegative or monomial == 1)):
            return False
    return True

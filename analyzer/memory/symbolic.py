"""The activation peak as a formula: the largest of the sums that no other one always exceeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from neural_cost.analyzer.cost import Dim
from neural_cost.analyzer.expressions import Formula
from neural_cost.analyzer.memory.liveness import Method, levels
from neural_cost.analyzer.memory.orders import file_order
from neural_cost.analyzer.memory.reading import Activations
from neural_cost.analyzer.memory.scope import Key

MOST_CANDIDATES = 200
MOST_SHOWN = 12


class Largest(Formula):
    """The largest of several formulas. It is evaluated and printed part by part: sympy would compare all pairs."""

    def __init__(self, parts: Sequence[Formula], names: Sequence[str]) -> None:
        import sympy

        super().__init__(sympy.Max(*(part.expression for part in parts), evaluate=False), names)
        self.parts = parts

    def __call__(self, sizes: Mapping[str, int]) -> int:
        """The largest at these sizes, one for each name."""
        return max(part(sizes) for part in self.parts)

    def __str__(self) -> str:
        """As `Max(4*batch*steps, 8*batch)`; how many there are, where they are too many to be read."""
        if len(self.parts) > MOST_SHOWN:
            return f"the largest of {len(self.parts)} formulas"
        return f"Max({', '.join(map(str, self.parts))})"


def peak_formula(found: Activations, names: Sequence[str]) -> Formula | None:
    """The plain peak in the dimensions that nobody gave, exact at every size; None where there is no formula.

    It is piecewise, `Max(...)`, where the peak moves to another node as dimensions grow.
    """
    sizes = None if found.unknown else found.opened()
    if sizes is None:
        return None
    polynomials = Polynomials(sizes)
    try:
        plain = levels(found.scope, Method(polynomials.sizes, file_order))
    except (TypeError, ValueError):  # a body that runs once or not at all, as open dimensions have it
        return None
    candidates = polynomials.undominated([each for level in plain for each in level.sums])
    if len(candidates) > MOST_CANDIDATES:
        return None
    parts = [Formula(polynomials.expression(each), names) for each in candidates]
    return parts[0] if len(parts) == 1 else Largest(parts, names) if parts else Formula(0, names)


class Polynomials:
    """Sizes as polynomials over the integers, fast to add and to compare; a rounding in a size stands as a symbol."""

    def __init__(self, sizes: Mapping[Key, Dim]) -> None:
        import sympy

        self._hidden: dict[Any, Any] = {}
        plain = {size: self._without_roundings(size) for size in dict.fromkeys(sizes.values())}
        symbols = sorted({each for one in plain.values() for each in one.free_symbols}, key=str)
        self._ring: Any = sympy.polys.rings.PolyRing(symbols, sympy.QQ, sympy.polys.orderings.lex)
        elements = {size: self._ring.from_expr(expression) for size, expression in plain.items()}
        self.sizes: dict[Key, Any] = {key: elements[size] for key, size in sizes.items()}
        self._gens = list(zip(self._ring.gens, symbols, strict=True))

    def _without_roundings(self, size: Dim) -> Any:
        import sympy

        expression = sympy.sympify(size)
        opaque = (sympy.floor, sympy.ceiling, sympy.Mod, sympy.Max, sympy.Min)
        parts = sympy.preorder_traversal(expression)
        symbols = {}
        for part in parts:
            if isinstance(part, opaque):
                symbols[part] = self._symbol(part)
                parts.skip()  # what is inside it goes with it
        return sympy.expand(expression.xreplace(symbols))

    def _symbol(self, part: Any) -> Any:
        """A symbol for a rounding: at least 1, or at least 0, where that is known."""
        import sympy

        if part not in self._hidden:
            sign = {"positive": True} if part.is_positive else {"nonnegative": True} if part.is_nonnegative else {}
            self._hidden[part] = sympy.Dummy(integer=True, **sign)
        return self._hidden[part]

    def expression(self, sum_: Any) -> Any:
        """A sum as sympy has it, with its roundings."""
        shown = {symbol: part for part, symbol in self._hidden.items()}
        return self._ring(sum_).as_expr().xreplace(shown)

    def undominated(self, sums: Iterable[Any]) -> list[Any]:
        """Those of several sums that are not everywhere at most another one.

        One is nowhere more than another if no coefficient of their difference is positive, written in how much each
        symbol exceeds its least. That is sufficient, not necessary: some may stay that another one always exceeds.
        """
        kept: list[tuple[Any, Any]] = []
        for each in dict.fromkeys(self._ring(one) for one in sums):
            shifted = self._from_least(each)
            if any(self._at_most(shifted, other) for _, other in kept):
                continue
            kept = [(one, other) for one, other in kept if not self._at_most(other, shifted)]
            kept.append((each, shifted))
        return [each for each, _ in kept]

    def _from_least(self, polynomial: Any) -> Any:
        """In how much each symbol exceeds 1, for those that are at least that."""
        return polynomial.compose([(gen, gen + 1) for gen, symbol in self._gens if symbol.is_positive])

    def _at_most(self, first: Any, second: Any) -> bool:
        """Whether no term of the difference is positive, or of unknown sign."""
        signless = [at for at, (_, symbol) in enumerate(self._gens) if not symbol.is_nonnegative]
        for powers, more in (first - second).terms():
            if more > 0 or any(powers[at] % 2 for at in signless):
                return False
        return True

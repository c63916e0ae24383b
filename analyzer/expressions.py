"""Expressions: how they are printed, evaluated, and how they grow."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from neural_cost.analyzer.errors import DimensionError

PLAIN_NAME = re.compile(r"[^\W\d][\w.:]*")


class Formula:
    """One count as an expression, callable with sizes by name: exact, and in microseconds.

    Attributes:
        expression: an int, or a sympy expression.
        names: names of the symbols that it may have, in the order of the model's dimensions.
    """

    def __init__(self, expression: Any, names: Sequence[str]) -> None:
        self.expression = expression
        self.names = names

    def __call__(self, sizes: Mapping[str, int]) -> int:
        """The count at these sizes, one for each name. Raises DimensionError where one is missing."""
        try:
            return int(self._compiled(*(sizes[name] for name in self.names)))
        except (KeyError, TypeError) as error:
            needed = ", ".join(f'"{name}"' for name in self.names)
            raise DimensionError(f"the formula {self} takes sizes by name, of {needed}; given are: {sizes}.") from error

    def __str__(self) -> str:
        """The expression with its terms collected, as `batch*(6291456*sequence + 1024*sequence**2)`."""
        return self._text

    def __repr__(self) -> str:
        """The same, told apart from a string."""
        return f"Formula({self})"

    @property
    def symbols(self) -> set[Any]:
        """The symbols that it depends on."""
        return getattr(self.expression, "free_symbols", set())

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        return _compile(self.expression, self.names)

    @cached_property
    def _text(self) -> str:
        return _readable(self.expression)


def expanded(expression: Any) -> Any:
    """Multiply out, around roundings, maxima and minima: what is in them stays as it is."""
    import sympy

    expression = sympy.sympify(expression)
    parts = expression.atoms(sympy.floor, sympy.ceiling, sympy.Max, sympy.Min)
    whole = {each: sympy.Dummy(integer=True) for each in parts}
    result = sympy.expand(expression.xreplace(whole))
    return result.xreplace({symbol: each for each, symbol in whole.items()})


def divided(formula: Formula, names: Sequence[str], number: int = 1) -> Formula:
    """A formula by some of its dimensions and a number: what one of them costs."""
    import sympy

    symbols = {each.name: each for each in sympy.sympify(formula.expression).free_symbols}
    by = sympy.Mul(*[symbols.get(name, sympy.Symbol(name, integer=True, positive=True)) for name in names])
    return Formula(expanded(formula.expression / (by * number)), formula.names)


def power(formula: Formula, name: str) -> int | None:
    """The highest power of a dimension in a formula, roundings and maxima aside; None where there is none."""
    import sympy

    polynomial = _without_rounding(formula.expression)
    symbol = next((each for each in polynomial.free_symbols if each.name == name), None)
    if symbol is None:
        return 0
    try:
        return int(sympy.Poly(polynomial, symbol).degree())
    except sympy.PolynomialError:
        return None


def overtakes(formula: Formula, name: str, sizes: Mapping[str, int]) -> int | None:
    """The size of a dimension from which on its quadratic term is larger than its linear one, the others as given."""
    import sympy

    polynomial = _without_rounding(formula.expression)
    others = {each: sizes[each.name] for each in polynomial.free_symbols if each.name != name}
    symbol = next((each for each in polynomial.free_symbols if each.name == name), None)
    if symbol is None:
        return None
    try:
        terms = sympy.Poly(sympy.sympify(polynomial).subs(others), symbol)
    except sympy.PolynomialError:
        return None
    square, line = terms.coeff_monomial(symbol**2), terms.coeff_monomial(symbol)
    return None if square <= 0 or line <= 0 else int(sympy.floor(line / square)) + 1


def _without_rounding(expression: Any) -> Any:
    import sympy

    expression = sympy.sympify(expression)
    for rounded in (sympy.floor, sympy.ceiling):
        expression = expression.replace(rounded, lambda inner: inner)
    return sympy.expand(expression.replace(sympy.Max, sympy.Add).replace(sympy.Min, _slowest))


def _slowest(*terms: Any) -> Any:
    """Of the terms of a minimum the one that grows least."""
    return min(terms, key=lambda term: (len(term.free_symbols), str(term)))


def at_least_zero(expression: Any) -> Any:
    """An expression, or 0 where it is less; as it is where that cannot be, so that formulas stay readable."""
    if isinstance(expression, int):
        return max(0, expression)
    import sympy

    found = expanded(expression)
    least = found
    for minimum in found.atoms(sympy.Min):
        largest = next((term for term in minimum.args if term.is_number), None)
        rises = found.coeff(minimum).is_nonnegative
        if rises is None or (not rises and largest is None):
            return sympy.Max(0, expression, evaluate=False)
        least = least.xreplace({minimum: sympy.Integer(0) if rises else largest})
    return found if least.is_nonnegative else sympy.Max(0, expression, evaluate=False)


def _readable(expression: Any) -> str:
    """A product as it is; of a sum what all its terms have in common in front."""
    import sympy

    expression = sympy.sympify(expression)
    if not isinstance(expression, sympy.Add):
        return _written(expression)
    parts = expression.atoms(sympy.floor, sympy.ceiling, sympy.Max, sympy.Min)
    whole = {each: sympy.Dummy(integer=True) for each in parts}  # a rounding or a maximum is a symbol of its own
    expanded = sympy.expand(expression.xreplace(whole))
    symbols = list(expanded.free_symbols)
    if not isinstance(expanded, sympy.Add) or not expanded.is_polynomial(*symbols):
        return _written(expression)
    back = {symbol: each for each, symbol in whole.items()}
    least = [min(powers) for powers in zip(*sympy.Poly(expanded, *symbols).monoms(), strict=True)]
    common = sympy.Mul(*[symbol**power for symbol, power in zip(symbols, least, strict=True)])
    rest = _written(sympy.expand(expanded / common).xreplace(back))
    return rest if common == 1 else f"{_written(common.xreplace(back))}*({rest})"


def _written(expression: Any) -> str:
    """An expression as text; names that could be read as arithmetic stand in quotes."""
    import sympy
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):  # type: ignore[misc]  # sympy has no types
        def _print_Symbol(self, symbol: Any) -> str:
            return symbol.name if PLAIN_NAME.fullmatch(symbol.name) else f'"{symbol.name}"'

        def _print_floor(self, rounded: Any) -> str:
            return f"floor({self._print(sympy.together(rounded.args[0]))})"

    text: str = Printer().doprint(expression)
    return text


def _compile(expression: Any, names: Sequence[str]) -> Callable[..., Any]:
    """A Python function of the sizes in order. Fractions stay exact; names of the file are no part of the code.

    Raises:
        ValueError: the expression has something that whole numbers do not compute exactly, as a logarithm.
    """
    import math
    from fractions import Fraction

    import sympy
    from sympy.printing.pycode import PythonCodePrinter

    arguments = {name: f"size_{position}" for position, name in enumerate(names)}

    class Printer(PythonCodePrinter):  # type: ignore[misc]  # sympy has no types
        def _print_Symbol(self, symbol: Any) -> str:
            return arguments[symbol.name]

        def _print_Rational(self, rational: Any) -> str:
            return f"Fraction({rational.p}, {rational.q})"

        def _print_floor(self, rounded: Any) -> str:
            return f"floor({self._print(rounded.args[0])})"

        def _print_ceiling(self, rounded: Any) -> str:
            return f"ceil({self._print(rounded.args[0])})"

    code = Printer().doprint(sympy.sympify(expression))
    if "math." in code or "Not supported" in code:
        raise ValueError(f"{expression} is not exact: it has more than sums, products, roundings and maxima")
    scope = {"Fraction": Fraction, "floor": math.floor, "ceil": math.ceil, "max": max, "min": min}
    function: Callable[..., Any] = eval(f"lambda {', '.join(arguments.values())}: {code}", scope)
    return function

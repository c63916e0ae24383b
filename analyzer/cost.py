"""Cost: what one node, or a whole graph, must compute and move.

Conventions (the only place that states them in code):

- a MAC is one multiply-accumulate of a contraction, and `FLOPS_PER_MAC` FLOPs;
- every other arithmetic operation is one FLOP, a transcendental too; transcendentals are counted again in
  `special_ops`, so that a reader can weigh them;
- traffic is bytes: each input element that is used is read once, each output element is written once.

Counts are ints, or symbolic expressions that do the same arithmetic: a rule written with `+ - * //` yields both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

FLOPS_PER_MAC = 2

# A dimension or a count: an int, or a sympy expression with the same operators. Annotated as int because that is
# what the arithmetic means; nothing may test it with isinstance(..., int) to decide that it is a number.
Dim: TypeAlias = int


def prod(dims: Iterable[Dim]) -> Dim:
    """Multiply dimensions; the product of none is 1. Works for symbolic ones, unlike math.prod with a start type."""
    result: Dim = 1
    for dim in dims:
        result = result * dim
    return result


def ceil_div(numerator: Dim, denominator: Dim) -> Dim:
    """Divide and round up, for ints and symbols alike."""
    return -(-numerator // denominator)


def maximum(first: Dim, second: Dim) -> Dim:
    """Return the larger of two dimensions; an expression where symbols do not tell which it is."""
    if isinstance(first, int) and isinstance(second, int):
        return max(first, second)
    return _chosen("Max", first, second)


def minimum(first: Dim, second: Dim) -> Dim:
    """Return the smaller of two dimensions; an expression where symbols do not tell which it is."""
    if isinstance(first, int) and isinstance(second, int):
        return min(first, second)
    return _chosen("Min", first, second)


def _chosen(name: str, first: Any, second: Any) -> Dim:
    """sympy's own search for what is larger among all the parts of nested maxima takes seconds: it is not asked."""
    import sympy

    more = sympy.expand(first - second)
    if more.is_nonnegative or more.is_nonpositive:
        larger, smaller = (first, second) if more.is_nonnegative else (second, first)
        result: Dim = larger if name == "Max" else smaller
        return result
    undecided: Dim = getattr(sympy, name)(first, second, evaluate=False)
    return undecided


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Work of one execution.

    `compute_type` is the element type that the MACs run in, `other_type` that of the other FLOPs: a quantized
    convolution multiplies int8 and rescales in float32. `mixed_macs` names those of the MACs that run in yet another
    type: a quantized attention projects in int8 and attends in float32.
    """

    macs: Dim = 0
    other_flops: Dim = 0
    special_ops: Dim = 0
    read_bytes: Dim = 0
    write_bytes: Dim = 0
    compute_type: str | None = None
    other_type: str | None = None
    mixed_macs: tuple[tuple[str, Dim], ...] = ()

    @property
    def flops(self) -> Dim:
        """All arithmetic: two for each MAC, and the other FLOPs."""
        return FLOPS_PER_MAC * self.macs + self.other_flops

    @property
    def traffic_bytes(self) -> Dim:
        """Bytes read and written."""
        return self.read_bytes + self.write_bytes

    @property
    def macs_by_type(self) -> dict[str, Dim]:
        """MACs under the element type that they run in."""
        if not self.mixed_macs:
            return {self.compute_type: self.macs} if self.compute_type and self.macs != 0 else {}
        result: dict[str, Dim] = {}
        main = self.macs - sum((macs for _, macs in self.mixed_macs), 0)
        for kind, macs in ((self.compute_type, main), *self.mixed_macs):
            if kind and macs != 0:
                result[kind] = result.get(kind, 0) + macs
        return result

    @property
    def flops_by_type(self) -> dict[str, Dim]:
        """FLOPs under the element type that they run in."""
        result: dict[str, Dim] = {kind: FLOPS_PER_MAC * macs for kind, macs in self.macs_by_type.items()}
        if self.other_type and self.other_flops != 0:
            result[self.other_type] = result.get(self.other_type, 0) + self.other_flops
        return result

    def map(self, function: object) -> Cost:
        """Apply a function to each count, keeping the types: scaling, or putting numbers in for symbols."""
        assert callable(function)
        counts = {name: function(getattr(self, name)) for name in COUNTS}
        mixed = tuple((kind, function(macs)) for kind, macs in self.mixed_macs)
        return Cost(**counts, compute_type=self.compute_type, other_type=self.other_type, mixed_macs=mixed)


COUNTS = tuple(f.name for f in fields(Cost) if not f.name.endswith("_type") and f.name != "mixed_macs")
"""Names of the counts of a Cost."""

NOTHING = Cost()

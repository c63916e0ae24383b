"""Formulas of totals by name: one that is not there says why, in place of a bare KeyError."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neural_cost.analyzer.errors import NeuralCostError, listed
from neural_cost.analyzer.expressions import Formula
from neural_cost.analyzer.walk import NodeCost

BUILT = ("macs", "flops", "other_flops", "special_ops", "per_op_bytes", "compulsory_bytes", "activation_peak_bytes")


class TotalFormulas(dict[str, Formula]):
    """Formulas by the names of `Totals`; `why` tells what is in the way of those that are not there."""

    why = ""

    def __missing__(self, name: object) -> Formula:
        if name not in BUILT:
            raise NeuralCostError(f"no total with a formula is called {name!r}; there are: {', '.join(BUILT)}.")
        raise NeuralCostError(f"there is no formula of {name}: {self.why}.")


def why_missing(missing: Sequence[str], nodes: Iterable[NodeCost]) -> str:
    """What is in the way of all totals; without a node to name, of those alone that are not sums over nodes."""
    if missing:
        return f"no formula gives the counts of {listed(missing)}"
    graphs = dict.fromkeys(node.graph for node in nodes if node.open_repeats is None)
    if graphs:
        return f"how often the body {listed(graphs)} runs has no formula: it depends on sizes or on data"
    return "its number is not known whole, or no formula gives it"

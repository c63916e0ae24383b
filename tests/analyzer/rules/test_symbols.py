"""Every rule gives the formula of what it counts: the tables again, with a symbol for each size."""

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
import sympy

from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.rules import FAMILIES
from tests.analyzer.rules.make import as_tensor, cost_of
from tests.analyzer.rules.table import Row

TABLES = [family for family in FAMILIES if family != "opaque"]  # whose rules refuse every node
ROWS = [(table, row) for table in TABLES for row in import_module(f"tests.analyzer.rules.test_{table}").ROWS]

# A block layout is met by a number of tokens that must be known: see test_sparse_attention.
NUMBERS_ONLY = {"SparseAttention"}


def symbol(size: int) -> sympy.Symbol:
    return sympy.Symbol(f"d{size}", integer=True, positive=True)


def with_symbols(name: str, given: Any) -> Tensor | None:
    """Put a symbol for each size above 1, the same for the same size; values keep their tensors' sizes."""
    made = as_tensor(name, given)
    if made is None or made.value is not None:
        return made
    return replace(made, dims=tuple(symbol(dim) if dim > 1 else dim for dim in made.shape))


def put_numbers(count: Any) -> Any:
    symbols = getattr(count, "free_symbols", ())
    return count.subs({name: int(name.name[1:]) for name in symbols}) if symbols else count


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{table}-{row.id}") for table, row in ROWS if row.op not in NUMBERS_ONLY]
)
def test_the_formula_gives_the_number(row: Row) -> None:
    inputs = [with_symbols(f"in{i}", given) for i, given in enumerate(row.inputs)]
    outputs = [with_symbols(f"out{i}", given) for i, given in enumerate(row.outputs)]
    formula = cost_of(row.op, inputs, outputs, row.domain, row.version, **row.attributes)
    number = cost_of(row.op, row.inputs, row.outputs, row.domain, row.version, **row.attributes)
    assert formula.map(put_numbers) == number

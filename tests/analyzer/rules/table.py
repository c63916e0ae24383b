"""Tables of hand-worked costs: one row for each case of an operator, checked alike in every family."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from neural_cost.analyzer.rules.registry import registered
from tests.analyzer.rules.make import cost_of


@dataclass(frozen=True)
class Row:
    """A node, and what it costs. Bytes and types are checked where the row states them."""

    id: str
    op: str
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    domain: str = ""
    version: int = 22
    macs: int = 0
    other: int = 0
    special: int = 0
    read: int | None = None
    write: int | None = None
    compute_type: str | None = None
    other_type: str | None = None

    def check(self) -> None:
        """Compare everything the row states with the rule's answer."""
        cost = cost_of(self.op, self.inputs, self.outputs, self.domain, self.version, **self.attributes)
        assert (cost.macs, cost.other_flops, cost.special_ops) == (self.macs, self.other, self.special)
        stated = {
            "read_bytes": self.read,
            "write_bytes": self.write,
            "compute_type": self.compute_type,
            "other_type": self.other_type,
        }
        for name, expected in stated.items():
            assert expected is None or getattr(cost, name) == expected, name


def parametrize(rows: Iterable[Row]) -> pytest.MarkDecorator:
    """Run a test once for each row."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in rows])


def untested(families: Iterable[str], rows: Iterable[Row]) -> set[tuple[str, str]]:
    """List operators that the modules of these names register and no row has."""
    names = set(families)
    ours = {(r.domain, r.op_type) for r in registered() if r.function.__module__.rpartition(".")[2] in names}
    assert ours, f"no rule in {names}"
    return ours - {(row.domain, row.op) for row in rows}

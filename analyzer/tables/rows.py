"""Rows of a report: its nodes, or their sums by operator, module, function or call. A sum never hides an unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from neural_cost.analyzer.parameters import distinct
from neural_cost.analyzer.records import NodeRecord
from neural_cost.analyzer.tables.view import By, Column

Row: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str]  # name of a group, and the function that it calls, where it is a call


COUNTED = ("macs", "flops", "other_flops", "special_ops", "read_bytes", "write_bytes")
WEIGHTS = ("parameters", "parameter_bytes")
IDENTITY = ("index", "graph", "name", "op_type", "domain", "scope", "kind", "constant", "repeats")
NAMES = {
    By.NODE: IDENTITY,
    By.OP: ("name", "nodes", "unknown"),
    By.MODULE: ("name", "nodes", "unknown"),
    By.FUNCTION: ("name", "calls", "nodes", "unknown"),
    By.CALL: ("name", "function", "nodes", "unknown"),
}
NO_MODULE, NO_FUNCTION, NO_CALL = "(no module)", "(no function)", "(no call)"
INSIDE = " > "  # a call inside another


def rows(nodes: Iterable[NodeRecord], by: By, depth: int | None = None, sort: Column = Column.FLOPS) -> list[Row]:
    """Rows of this view, sorted by what a whole run does.

    A row of a node has the counts of one execution, `repeats`, and `total_macs` and `total_flops` of all of them. A
    row of a group has `nodes`, `unknown` (how many of them have no known total: what the sums leave out), and sums
    over the others, each node as often as it runs; None where nothing is known. A weight counts once in each group.
    Functions and calls hold what they call: rows of nested ones overlap. Modules do not: without a depth a node stands
    in its innermost module alone, with one in the module at that depth that holds it.
    """
    if by is By.NODE:
        return [_node(node) for node in (nodes if sort is Column.INDEX else sorted(nodes, key=ranker(sort)))]
    groups: dict[Key, list[NodeRecord]] = {}
    for node in nodes:
        for key in _keys(node, by, depth):
            groups.setdefault(key, []).append(node)
    found = [_group(key, members, by) for key, members in groups.items()]  # in the order of their first nodes
    return found if sort is Column.INDEX else sorted(found, key=lambda row: _order(row[sort], sort))


def columns(by: By) -> tuple[str, ...]:
    """Names of the columns that every row of a view has."""
    if by is By.NODE:
        return (*IDENTITY, "compute_type", *COUNTED, *WEIGHTS, "total_macs", "total_flops", "bound_s", "why")
    return (*NAMES[by], *COUNTED, *WEIGHTS, "bound_s")


def module_name(scope: str, depth: int | None) -> str:
    """A module as rows call it: cut short at a depth, or the innermost one."""
    return "/".join(scope.split("/")[:depth]) or NO_MODULE


def times(count: Any, repeats: int | None) -> Any:
    """A count of all executions; None where it, or how often it is, is not known."""
    return None if count is None or repeats is None else count * repeats


def _node(node: NodeRecord) -> Row:
    totals = {"total_macs": times(node.macs, node.repeats), "total_flops": times(node.flops, node.repeats)}
    return {name: totals[name] if name in totals else getattr(node, name) for name in columns(By.NODE)}


def _keys(node: NodeRecord, by: By, depth: int | None) -> Sequence[Key]:
    return KEYS[by](node, depth)


def _operator(node: NodeRecord, _: int | None) -> list[Key]:
    return [(node.operator, "")]


def _module(node: NodeRecord, depth: int | None) -> list[Key]:
    return [(module_name(node.scope, depth), "")]


def _functions(node: NodeRecord, _: int | None) -> list[Key]:
    return [(call.function, "") for call in node.calls] or [(NO_FUNCTION, "")]


def _calls(node: NodeRecord, _: int | None) -> list[Key]:
    path = [call.node for call in node.calls]
    found = [(INSIDE.join(path[: level + 1]), call.function) for level, call in enumerate(node.calls)]
    return found or [(NO_CALL, "")]


KEYS: dict[By, Callable[[NodeRecord, int | None], list[Key]]] = {
    By.OP: _operator,
    By.MODULE: _module,
    By.FUNCTION: _functions,
    By.CALL: _calls,
}


def _group(key: Key, members: Sequence[NodeRecord], by: By) -> Row:
    name, function = key
    weights = distinct(weight for member in members for weight in member.weights)
    row = {
        "name": name,
        "function": function or None,
        "calls": len({sites for member in members if (sites := _sites(member, name))}),
        "nodes": len(members),
        "unknown": sum(times(member.flops, member.repeats) is None for member in members),
        **{column: _sum(members, column) for column in (*COUNTED, "bound_s")},
        "parameters": sum(weight.elements for weight in weights),
        "parameter_bytes": sum(weight.stored.bytes for weight in weights),
    }
    return {column: row[column] for column in columns(by)}


def _sites(node: NodeRecord, function: str) -> tuple[str, ...]:
    """The calls down to that of this function; empty where the node did not come through one."""
    level = next((level for level, call in enumerate(node.calls) if call.function == function), -1)
    return tuple(call.node for call in node.calls[: level + 1])


def _sum(members: Iterable[NodeRecord], column: str) -> Any:
    found = (times(getattr(member, column), member.repeats) for member in members)
    known = [each for each in found if each is not None]
    return sum(known) if known else None


def ranker(sort: Column) -> Callable[[NodeRecord], tuple[int, Any]]:
    """What to sort nodes by, so that the heaviest come first."""
    return lambda node: _rank(node, sort)


def _rank(node: NodeRecord, sort: Column) -> tuple[int, Any]:
    """Where a node stands: what runs no one knows how often comes after what is known, by one execution."""
    value = getattr(node, sort)
    if sort in (*COUNTED, Column.BOUND_S) and value is not None:
        return (1, -value) if node.repeats is None else (0, -value * node.repeats)
    return _order(value, sort)


def _order(value: Any, sort: Column) -> tuple[int, Any]:
    if value is None:
        return (2, 0)
    return (0, value if sort is Column.NAME else -value)

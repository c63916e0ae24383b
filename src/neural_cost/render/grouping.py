"""Rows of a report: its nodes, or their sums by operator or by module. A sum never hides an unknown."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]


class By(StrEnum):
    """What a row stands for."""

    NODE = "node"
    OP = "op"
    MODULE = "module"


class Column(StrEnum):
    """A column to sort by: counts from the largest, names and positions from the first."""

    MACS = "macs"
    FLOPS = "flops"
    OTHER_FLOPS = "other_flops"
    SPECIAL_OPS = "special_ops"
    READ_BYTES = "read_bytes"
    WRITE_BYTES = "write_bytes"
    NAME = "name"
    INDEX = "index"


COUNTED = ("macs", "flops", "other_flops", "special_ops", "read_bytes", "write_bytes")
IDENTITY = ("index", "graph", "name", "op_type", "domain", "scope", "kind")
NO_MODULE = "(no module)"


def rows(nodes: Iterable[Row], by: By, depth: int | None, sort: Column) -> list[Row]:
    """Rows of this view, sorted.

    A row of a group has `nodes`, `unknown` (how many of them have no known cost: what the sums leave out), and the
    sums over the others, which are None where nothing is known. `index` is the position of a group's first node.
    """
    if by is By.NODE:
        found = [_node(node) for node in nodes]
    else:
        groups: dict[str, list[Row]] = {}
        for node in nodes:
            groups.setdefault(_key(node, by, depth), []).append(node)
        found = [_group(name, members) for name, members in groups.items()]
    return sorted(found, key=lambda row: _rank(row, sort))


def columns(by: By) -> tuple[str, ...]:
    """Names of the columns that every row of a view has."""
    return (*IDENTITY, *COUNTED, "why") if by is By.NODE else ("name", "nodes", "unknown", *COUNTED)


def operator(node: Row) -> str:
    """Name of an operator, with its domain unless that is the standard's."""
    return f"{node['domain']}::{node['op_type']}" if node["domain"] else str(node["op_type"])


def module(scope: str, depth: int | None) -> str:
    """The module at this depth that a scope lies in; the scope itself without a depth."""
    return "/".join(scope.split("/")[:depth]) or NO_MODULE


def _key(node: Row, by: By, depth: int | None) -> str:
    return operator(node) if by is By.OP else module(node["scope"], depth)


def _node(node: Row) -> Row:
    bound = {"bound_s": node["bound_s"]} if "bound_s" in node else {}
    return {name: node[name] for name in (*IDENTITY, *COUNTED)} | bound | {"why": node["why"]}


def _group(name: str, members: list[Row]) -> Row:
    sums = {column: _sum(members, column) for column in COUNTED}
    unknown = sum(member["flops"] is None for member in members)
    return {"index": members[0]["index"], "name": name, "nodes": len(members), "unknown": unknown} | sums


def _sum(members: list[Row], column: str) -> int | None:
    known = [member[column] for member in members if member[column] is not None]
    return sum(known) if known else None


def _rank(row: Row, sort: Column) -> tuple[Any, ...]:
    value = row[sort]
    if value is None:
        return (1, 0)
    return (0, value if sort in (Column.NAME, Column.INDEX) else -value)

"""Dimensions whose names are arithmetic of others: "past_sequence_length + 1", as exporters of decoders write them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
MAX_LENGTH = 200  # a name that is longer is a name, whatever it says


def names_in(text: str) -> set[str] | None:
    """The names that a dimension's text computes with; None where it is a plain name, or no such arithmetic."""
    tree = _parsed(text)
    if tree is None or isinstance(tree, ast.Name | ast.Constant):
        return None
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=op) if type(op) in OPERATORS:
                pass
            case ast.Constant(value=int()):
                pass
            case ast.Name(id=name):
                found.add(name)
            case ast.operator() | ast.expr_context():
                pass
            case _:
                return None
    return found


def size_of(text: str, sizes: Mapping[str, int]) -> int | None:
    """The size that the text gives with these sizes of its names; None where it gives none, as a division by 0."""
    tree = _parsed(text)
    try:
        return None if tree is None else _value(tree, sizes)
    except (KeyError, ZeroDivisionError):
        return None


def in_symbols(text: str, terms: Mapping[str, int | str]) -> str:
    """The text with what its names stand for in their places."""
    tree = ast.parse(text.strip(), mode="eval")

    class Replace(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            term = terms[node.id]
            return ast.Constant(term) if isinstance(term, int) else ast.Name(term, node.ctx)

    return ast.unparse(Replace().visit(tree))


def _parsed(text: str) -> ast.expr | None:
    if len(text) > MAX_LENGTH:
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _value(tree: ast.expr, sizes: Mapping[str, int]) -> int:
    match tree:
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](_value(left, sizes), _value(right, sizes))
        case ast.Name(id=name):
            return sizes[name]
        case ast.Constant(value=int() as number):
            return number
    raise KeyError(ast.dump(tree))

"""Sizes that were assumed, where something in the graph speaks against them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from neural_cost.analyzer.derived_dims import names_in, size_of
from neural_cost.analyzer.errors import listed, quoted
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.shape_checks import BROADCASTING
from neural_cost.analyzer.walk import NodeCost

WORD = re.compile(r"[^\W\d]\w*")
ARITHMETIC = re.compile(r"[-+*/^(]")


def doubts(
    assumed: Sequence[str], known: Iterable[str], sizes: Mapping[str, int], nodes: Iterable[NodeCost]
) -> list[str]:
    """A sentence for each assumed dimension that is likely another size.

    `assumed` are the names of those that nobody gave, `known` those of all open dimensions, `sizes` what all are.
    """
    names = set(known)
    found = {name: said for name in assumed if (said := _foreign(name, names) or _otherwise(name, names, sizes))}
    left = set(assumed)
    for node in nodes if left else ():
        if node.node.op_type in BROADCASTING and node.repeats != 0:
            for name, said in _met(node.node):
                if name in left:
                    left.discard(name)
                    found[name] = f"{found[name]}; {said}" if name in found else said
    return [f"the dimension {quoted(name)} is assumed, and {said}: give its size" for name, said in found.items()]


def _foreign(name: str, known: set[str]) -> str | None:
    """What a name computes with that the model has not; None where it computes nothing, or with what there is."""
    foreign = sorted((names_in(name) or set()) - known)
    return f"its name computes with {listed(foreign)}, which no input has" if foreign else None


def _otherwise(name: str, known: set[str], sizes: Mapping[str, int]) -> str | None:
    """What a name that computes with dimensions of the model says otherwise; None where it does not."""
    used = sorted(set(WORD.findall(name)) & known - {name})
    if not used or not ARITHMETIC.search(name):
        return None
    size = size_of(name, sizes) if names_in(name) else None
    if size == sizes.get(name):
        return None
    told = "arithmetic that is not followed here" if size is None else f"it would be {size:,}"
    return f"its name computes with {listed(used)}: {told}"


def _met(node: Node) -> Iterator[tuple[str, str]]:
    """Assumed dimensions of 1 that are repeated to another size, and what is to be said of them."""
    tensors = [tensor for tensor in node.inputs if tensor is not None and tensor.dims is not None]
    for axis in range(1, max((len(tensor.dims or ()) for tensor in tensors), default=0) + 1):
        ends = [(dims[-axis], _symbol(tensor, axis)) for tensor in tensors if len(dims := tensor.dims or ()) >= axis]
        others = [size for size, _ in ends if size not in (None, 1)]
        for size, name in ends if others else ():
            if size == 1 and name is not None:
                yield name, f"its 1 is repeated to {others[0]:,} in {node.op_type} node {quoted(node.name)}"


def _symbol(tensor: Tensor, axis: int) -> str | None:
    """The name of a dimension that is open and nothing else; None for numbers and what is computed."""
    dim: Any = (tensor.symbols or ())[-axis] if tensor.symbols and len(tensor.symbols) >= axis else None
    return dim.name if getattr(dim, "is_Symbol", False) else None

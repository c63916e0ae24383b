"""How rule tests make nodes: shapes in, a cost out, with no file and no graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node, Tensor
from neural_cost.analyzer.rules.registry import lookup

Shape = Sequence[int]


def tensor(name: str, shape: Shape | None, dtype: str = "float32", value: Any = None, constant: bool = False) -> Tensor:
    """Make a tensor; a value makes it a known small one."""
    known = None if value is None else np.asarray(value)
    return Tensor(name, dtype, None if shape is None else tuple(shape), "made unknown by the test", constant, known)


def as_tensor(name: str, given: Any) -> Tensor | None:
    """A shape, a (shape, dtype) pair, a Tensor, or None for an absent one."""
    if given is None or isinstance(given, Tensor):
        return given
    if len(given) == 2 and isinstance(given[1], str):
        return tensor(name, given[0], given[1])
    return tensor(name, given)


def node(
    op_type: str, inputs: Sequence[Any], outputs: Sequence[Any], domain: str = "", version: int = 22, **attributes: Any
) -> Node:
    """Make a node from shapes."""
    return Node(
        op_type,
        [as_tensor(f"in{i}", given) for i, given in enumerate(inputs)],
        [as_tensor(f"out{i}", given) for i, given in enumerate(outputs)],
        attributes,
        name=op_type.lower(),
        domain=domain,
        version=version,
    )


def cost_of(
    op_type: str, inputs: Sequence[Any], outputs: Sequence[Any], domain: str = "", version: int = 22, **attributes: Any
) -> Cost:
    """Cost of a made node under the registered rule."""
    rule = lookup(domain, op_type, version)
    assert rule is not None, f"{domain}::{op_type} version {version} has no rule"
    return rule.function(node(op_type, inputs, outputs, domain, version, **attributes))

"""Operators that cost nothing, or next to nothing.

The criterion of a view: its output has the bytes of its input, in the same order, so a runtime hands over the same
memory under another shape, type or name. It reads and writes nothing, its shape input included, which is read on
the host when memory is planned. A copy that a runtime makes all the same (to a graph output, say) is its own choice.

Operators that answer a question about a tensor's header read none of its data and write their small answer.
"""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node
from neural_cost.analyzer.rules.registry import cost


@cost("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "BitCast", "Optional", "OptionalGetElement", "Constant")
def view(node: Node) -> Cost:
    """Cost nothing: the same bytes under another shape, type or name. A Constant is a weight."""
    return node.cost(read_bytes=0, write_bytes=0)


@cost("ExpandDims", "SampleOp", domain="com.microsoft")
def contrib_view(node: Node) -> Cost:
    """Cost nothing, as a view."""
    return view(node)


@cost("Shape", "Size", "OptionalHasElement")
def header(node: Node) -> Cost:
    """Cost writing the answer; no data is read."""
    return node.cost(read_bytes=0)

"""Tensors of the file that the runtime makes once, as they hold the same, where weights tell that and names do not.

Two branches with equal weights are one after common subexpressions are eliminated. What reads the second then reads
the first: where a kernel reads another tensor than its node in the file does, both are the same, and so is what they
were made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from neural_cost.runtime.mapping.executed import ExecutedGraph, ExecutedNode
from neural_cost.runtime.mapping.names import kind_of
from neural_cost.runtime.mapping.source import SourceGraph, SourceNode

NEAR = 16  # nodes before a kernel's result among which its main node is looked for


def find_twins(executed: ExecutedGraph, source: SourceGraph, found: Mapping[str, str]) -> None:
    """Tell the source graph of tensors that no executed one holds, and which other holds the same."""
    held = set(found.values())
    for node in executed.nodes:
        if node.is_layout or not node.outputs or any(name not in found for name in (*node.inputs, node.outputs[0])):
            continue
        main = _main_node(node, found[node.outputs[0]], source)
        if main is None or len(main.inputs) > len(node.inputs):
            continue
        for read, named in zip(node.inputs, main.inputs, strict=False):
            pairs = dict(_pairs(named, found[read], source, held))
            source.twins.update(pairs)


def _main_node(node: ExecutedNode, target: str, source: SourceGraph) -> SourceNode | None:
    """The nearest node before the target that has the kernel's operator."""
    waiting, kind = [target], kind_of(node.op_type)
    for name in waiting:
        maker = source.producers.get(name)
        if maker is None or maker.constant:
            continue
        if maker.op_type == kind:
            return maker
        if len(waiting) < NEAR:
            waiting += maker.inputs
    return None


def _pairs(one: str, other: str, source: SourceGraph, held: set[str]) -> Iterator[tuple[str, str]]:
    """Tensors before one, with those before the other; nothing where the two are not made in the same way."""
    waiting = [(one, other)]
    pairs: list[tuple[str, str]] = []
    for first, second in waiting:
        if source.root(first) == source.root(second) or first in held:
            if source.root(first) != source.root(second):
                return
            continue
        makers = source.producers.get(first), source.producers.get(second)
        if makers[0] is None or makers[1] is None or makers[0].op_type != makers[1].op_type:
            return
        if len(makers[0].inputs) != len(makers[1].inputs) or makers[0] is makers[1]:
            return
        pairs += zip(makers[0].outputs, makers[1].outputs, strict=False)
        waiting += zip(makers[0].inputs, makers[1].inputs, strict=True)
    yield from pairs

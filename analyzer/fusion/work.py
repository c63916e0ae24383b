"""The work of fusion groups: what bounds and traffic are made of where no run has said which kernels there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from neural_cost.analyzer.bounding import node_work
from neural_cost.analyzer.fusion.graph import FusionGraph, Group
from neural_cost.analyzer.fusion.groups import fusion_groups
from neural_cost.analyzer.kernel_work import kernel_work, read_outside
from neural_cost.analyzer.records import NodeRecord
from neural_cost.analyzer.roofline import Work


def fused_works(nodes: Sequence[NodeRecord], returned: Iterable[str]) -> list[Work]:
    """The work of all groups of known cost, as if sizes and layout kept nothing from being fused."""
    graph = FusionGraph([node.source for node in nodes], frozenset(returned))
    found = (_work(graph, nodes, group) for group in fusion_groups(graph))
    return [work for work in found if work is not None]


def fused_bytes(works: Iterable[Work], compulsory: int | None, per_op: int) -> int:
    """Bytes that all groups move: no less than what nothing can save, no more than what the nodes move one by one."""
    return min(per_op, max(compulsory or 0, sum(work.bytes_moved * work.repeats for work in works)))


def _work(graph: FusionGraph, nodes: Sequence[NodeRecord], group: Group) -> Work | None:
    repeats = graph.nodes[group.anchor].repeats
    if not repeats:
        return None
    found = [nodes[place] for place in group.places]
    needed = read_outside(found, set(group.places), graph.readers)
    if len(found) == 1 and len(needed) == len(found[0].outputs):
        return node_work(found[0].source, int(repeats))
    work = kernel_work(found, needed)
    return None if work is None else replace(work, repeats=int(repeats))

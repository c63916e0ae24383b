"""The work of a kernel that does what several nodes of the file say: what stays inside it is not moved."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence, Set

from neural_cost.analyzer.node import Tensor, Unknown
from neural_cost.analyzer.records import NodeRecord
from neural_cost.analyzer.roofline import Work


def kernel_work(nodes: Sequence[NodeRecord], needed: Iterable[str]) -> Work | None:
    """FLOPs and bytes of one execution of all these nodes as one kernel; None where a node's cost is not known.

    `needed` are tensors that others read, or that the model returns. The others that these nodes make are written
    nowhere and read from nowhere, and what several nodes read is read once, as far as each node counts them whole: what
    it counts in part is not known tensor by tensor, and is taken off as if it were whole, but never below 0. So the
    bytes are a lower bound.
    """
    if any(node.source.cost is None for node in nodes):
        return None
    integers = computes_integers(nodes)
    made = {tensor.name for node in nodes for tensor in node.outputs}
    inner = made - set(needed)
    there = set(made)  # what a node need not read again
    flops: dict[str, int] = {}
    padding: dict[str, int] = {}
    moved = 0
    for node in nodes:
        cost = node.source.cost
        assert cost is not None
        for kind, count in (node.source.least_flops if integers else cost.flops_by_type).items():
            flops[kind] = flops.get(kind, 0) + count
        for kind, count in node.source.padding_flops(integers=integers).items():
            padding[kind] = padding.get(kind, 0) + count
        moved += max(0, cost.read_bytes - _bytes(node.inputs, there))
        there |= {tensor.name for tensor in node.inputs}
        moved += max(0, cost.write_bytes - _bytes(node.outputs, inner))
    return Work(flops, moved, padding=padding)


def computes_integers(nodes: Sequence[NodeRecord]) -> bool:
    """Whether a kernel of these nodes has quantizing fused into it, and so works on the integers."""
    return len(nodes) > 1 and any(node.kind == "quantization" for node in nodes)


def needed_outside(nodes: Sequence[NodeRecord], returned: Iterable[str]) -> dict[str, set[int]]:
    """Places of the nodes that read each tensor, by its name; -1 stands for the one that the model was asked by."""
    found: dict[str, set[int]] = {name: {-1} for name in returned}
    for place, node in enumerate(nodes):
        for tensor in node.inputs:
            found.setdefault(tensor.name, set()).add(place)
    return found


def read_outside(nodes: Iterable[NodeRecord], members: Set[int], readers: Mapping[str, Set[int]]) -> set[str]:
    """Tensors that these nodes make and that others than the members of their kernel read, or that are returned."""
    made = {tensor.name for node in nodes for tensor in node.outputs}
    return {name for name in made if not readers.get(name, set()) <= members}


def _bytes(tensors: Iterable[Tensor], among: Container[str]) -> int:
    """Bytes of those tensors that are among these names, each once; those of unknown size are left out."""
    total = 0
    for tensor in {tensor.name: tensor for tensor in tensors if tensor.name in among}.values():
        try:
            total += int(tensor.bytes)
        except Unknown:
            continue
    return total

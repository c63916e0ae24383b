"""The time of one kernel as its floor and causes, and each node's part of it."""

from __future__ import annotations

from collections.abc import Sequence

from neural_cost.analyzer.bounding import node_bound
from neural_cost.analyzer.cost import FLOPS_PER_MAC
from neural_cost.analyzer.device import Device
from neural_cost.analyzer.gap.product_size import product_size
from neural_cost.analyzer.gap.record import Parts
from neural_cost.analyzer.kernel_work import computes_integers
from neural_cost.analyzer.measurement import Kernel
from neural_cost.analyzer.records import NodeRecord
from neural_cost.analyzer.roofline import Work, kernel_bound


def kernel_parts(
    kernel: Kernel, nodes: Sequence[NodeRecord], device: Device, *, seconds: float, compulsory_s: float, start_s: float
) -> Parts:
    """Lay the time of a kernel to its causes; none is below 0 but that of a violated bound.

    Args:
        kernel: its work, of one execution, is known, or it is joined to another that has the work of both.
        nodes: those of the file that it does.
        device: whose rates are the bound.
        seconds: that all its executions took in the run, and those of kernels that are joined to it.
        compulsory_s: seconds that its part of the compulsory bytes takes at the bandwidth of all of them.
        start_s: seconds that starting all of these costs within their own time.
    """
    work = kernel.work or Work({}, 0)
    bound = kernel_bound(work, device)
    runs = kernel.executions
    floor = Parts(compute_s=runs * (bound.compute_s or 0.0), memory_s=compulsory_s).floor_s
    fused = max(floor, runs * (bound.memory_s or 0.0))
    above = seconds - fused
    start = max(0.0, above if only_starts(nodes) else min(above, start_s))
    reachable = runs * ((bound.compute_s or 0.0) + (0.0 if kernel.joined else _slower(kernel, nodes, device)))
    size = max(0.0, min(above - start, reachable - fused))
    return Parts(
        compute_s=runs * (bound.compute_s or 0.0),
        memory_s=compulsory_s,
        fusion_s=fused - floor,
        size_s=size,
        kernel_s=max(0.0, above - start - size),
        dispatch_s=start,
        violated_s=min(0.0, above),
    )


def node_shares(nodes: Sequence[NodeRecord], device: Device) -> list[float]:
    """Each node's part of their kernel: as its own bound is of the sum of theirs; alike where none has one."""
    alone = [node_bound(node.source, device) or 0.0 for node in nodes]
    whole = sum(alone)
    return [each / whole for each in alone] if whole else [1 / len(nodes)] * len(nodes)


def only_starts(nodes: Sequence[NodeRecord]) -> bool:
    """Whether a kernel starts others, in its bodies, and does nothing else that takes time."""
    return any(node.kind == "control_flow" for node in nodes)


def _slower(kernel: Kernel, nodes: Sequence[NodeRecord], device: Device) -> float:
    """Seconds by which one execution is slower as its products are no larger than they are."""
    counted = [node for place, node in zip(kernel.source_nodes, nodes, strict=True) if place not in kernel.repeated]
    return sum(_slower_node(node, device, integers=computes_integers(nodes)) for node in counted)


def _slower_node(node: NodeRecord, device: Device, *, integers: bool) -> float:
    cost, size = node.source.needed, product_size(node)
    if cost is None or size is None:
        return 0.0
    found = 0.0
    by_type = {node.source.integer_type: cost.macs} if node.source.integer_type and integers else cost.macs_by_type
    for kind, macs in by_type.items():
        peak, reached = device.peak(kind), device.reached(kind, size)
        if peak is not None and reached is not None and reached < peak:
            found += FLOPS_PER_MAC * int(macs) * (1 / reached - 1 / peak)
    return found

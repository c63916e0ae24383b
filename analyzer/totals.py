"""The sums over all nodes, and what they leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from neural_cost.analyzer.cost import FLOPS_PER_MAC
from neural_cost.analyzer.parameters import Weight
from neural_cost.analyzer.records import Coverage, Totals
from neural_cost.analyzer.walk import NodeCost


def total(
    nodes: Sequence[NodeCost],
    weights: Sequence[Weight],
    compulsory: int | None,
    peak: int | None,
    sizes_known: bool = True,
) -> Totals:
    """Sum what is known, as often as it runs; `compulsory` and the activation `peak` are None where not known.

    `sizes_known` tells that no weight is left out because its size is not known.
    """
    known = [
        (node.kind, node.cost, node.repeats) for node in nodes if node.cost is not None and node.repeats is not None
    ]
    macs = _by_type((cost.macs_by_type, times) for _, cost, times in known if cost.macs)
    other = sum(cost.other_flops * times for _, cost, times in known)
    return Totals(
        complete=sizes_known and len(known) == len(nodes),
        macs=sum(macs.values()),
        flops=FLOPS_PER_MAC * sum(macs.values()) + other,
        other_flops=other,
        special_ops=sum(cost.special_ops * times for _, cost, times in known),
        macs_by_type=macs,
        flops_by_type=_by_type((cost.flops_by_type, times) for _, cost, times in known if cost.flops),
        flops_by_kind=_by_type(({kind: cost.flops}, times) for kind, cost, times in known if cost.flops),
        parameters=sum(weight.elements for weight in weights),
        parameter_bytes=sum(weight.stored.bytes for weight in weights),
        per_op_bytes=sum(cost.traffic_bytes * times for _, cost, times in known),
        compulsory_bytes=compulsory,
        activation_peak_bytes=peak,
    )


def _by_type(counts: Iterable[tuple[Mapping[str, int], int]]) -> dict[str, int]:
    """Sums by what is counted apart, each count as often as it runs."""
    found: dict[str, int] = {}
    for each, times in counts:
        for name, count in each.items():
            found[name] = found.get(name, 0) + count * times
    return found


def cover(nodes: list[NodeCost]) -> Coverage:
    """List what is left out: operators without a rule, and nodes whose cost is not known."""
    without = [node for node in nodes if node.uncounted]
    counts = Counter((node.node.domain, node.node.op_type, node.why or "") for node in without)
    uncounted = [{"domain": d, "op_type": o, "nodes": n, "why": w} for (d, o, w), n in counts.items()]
    unknown = [
        {"node": node.node.name, "tensor": next((t.name for t in node.node.outputs if t), ""), "why": node.why or ""}
        for node in nodes
        if node.cost is None and not node.uncounted
    ]
    return Coverage(len(nodes), sum(node.cost is not None for node in nodes), uncounted, unknown)

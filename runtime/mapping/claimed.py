"""Claims over the graph that ran, and which kernel of a profile each is of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import onnx

from neural_cost.analyzer.report import Report
from neural_cost.runtime.mapping.branches import Source, results
from neural_cost.runtime.mapping.claim import Claim
from neural_cost.runtime.mapping.claims import claim_all
from neural_cost.runtime.mapping.executed import executed_graph
from neural_cost.runtime.mapping.source import source_nodes
from neural_cost.runtime.named_copy import names_given
from neural_cost.runtime.profile_events import Executed

UNNAMED = re.compile(r"(?P<operator>\w+)_\d+")  # what a profile calls a kernel without a name


def claimed(report: Report, graph: onnx.GraphProto | None, model: Path | bytes) -> list[Claim]:
    """What every kernel of the graph that ran claims of a report; nothing without the graph.

    `model` is what ran: where it is a copy, its nodes have names that those of the file have not.
    """
    if graph is None:
        return []
    given = names_given(model) if isinstance(model, bytes) else {}
    return claim_all(executed_graph(graph), Source(source_nodes(report.nodes, given), results(report)))


def by_event(claims: Sequence[Claim], kernels: Sequence[Executed]) -> dict[str, Claim]:
    """Claims by the names that a profile has for their kernels.

    Kernels without a name (those of an operator that the runtime writes out as a function) have their operator and a
    number there. They run in the order of the graph; where it does not have as many, nothing is known of them.
    """
    found = {claim.node.name: claim for claim in claims if claim.node.name}
    nameless: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        if not claim.node.name:
            nameless[claim.node.op_type].append(claim)
    events: dict[str, list[str]] = defaultdict(list)
    for kernel in kernels:
        named = UNNAMED.fullmatch(kernel.name)
        if kernel.name not in found and named and named["operator"] == kernel.op_type:
            events[kernel.op_type].append(kernel.name)
    for operator, names in events.items():
        if len(names) == len(nameless[operator]):
            found |= dict(zip(names, nameless[operator], strict=True))
    return found

"""The gap of each node and of each module: floor and causes that add up to the kernel time that is theirs."""

from __future__ import annotations

from collections.abc import Sequence

from neural_cost.analyzer.gap.record import Cause, Gap, GroupGap, Parts, together
from neural_cost.analyzer.report import Report
from neural_cost.analyzer.tables.rows import module_name


def node_gaps(report: Report, gap: Gap) -> list[GroupGap]:
    """Each node that ran, the slowest first."""
    groups = [_group(report.nodes[place].label, {place: parts}) for place, parts in gap.nodes.items()]
    return sorted(groups, key=lambda group: -group.seconds)


def module_gaps(report: Report, gap: Gap, depth: int | None = None) -> list[GroupGap]:
    """Each module that has nodes which ran, innermost ones or those at a depth, the slowest first."""
    members: dict[str, dict[int, Parts]] = {}
    for place, parts in gap.nodes.items():
        name = module_name(report.nodes[place].scope, depth)
        members.setdefault(name, {})[place] = parts
    return sorted((_group(name, each) for name, each in members.items()), key=lambda group: -group.seconds)


def _group(name: str, parts: dict[int, Parts]) -> GroupGap:
    """Its floor is of all its nodes at once; what their floors one after another are more than that is overlap."""
    whole = together(parts.values())
    overlap = sum(each.floor_s for each in parts.values()) - whole.floor_s
    causes: Sequence[tuple[str, float]] = [("overlap", overlap), *whole.causes]
    return GroupGap(
        name=name,
        places=tuple(parts),
        seconds=sum(each.seconds for each in parts.values()),
        floor_s=whole.floor_s,
        causes=tuple(Cause(cause, seconds) for cause, seconds in causes if seconds),
    )

"""The branch of an If that the runtime put in its place, as it knows the condition when it loads the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

from neural_cost.analyzer.report import Report
from neural_cost.runtime.mapping.executed import ExecutedGraph, ExecutedNode
from neural_cost.runtime.mapping.source import SourceNode

PREFIX = "_if_"  # of tensors that come from a branch: before its name, and a number where that is there already


@dataclass(frozen=True, slots=True)
class Source:
    """All graphs of the file.

    Attributes:
        nodes: by graph, "main" or the path of a body.
        results: names of what each body hands on to its node.
    """

    nodes: Mapping[str, Sequence[SourceNode]]
    results: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def seen_as(self, graph: str, executed: ExecutedGraph) -> list[SourceNode]:
        """The nodes of a graph, with those of branches that the runtime put into it in place of their If."""
        nodes = self.nodes.get(graph, ())
        if not any(node.op_type == "If" for node in nodes):
            return list(nodes)
        return list(_Spliced(self, executed).of(nodes, "", {}))


@dataclass(frozen=True, eq=False)
class _Spliced:
    """Nodes as one executed graph has them."""

    source: Source
    executed: ExecutedGraph

    @cached_property
    def _producers(self) -> dict[str, ExecutedNode]:
        return {name: node for node in self.executed.nodes for name in node.outputs}

    def of(self, nodes: Sequence[SourceNode], prefix: str, names: Mapping[str, str]) -> Iterator[SourceNode]:
        """Nodes of a branch that has a prefix, under the names that the runtime gives to its tensors."""
        for each in nodes:
            node = replace(
                each,
                name=prefix + each.name,
                inputs=[names.get(name, name) for name in each.inputs],
                outputs=[names.get(name, name) for name in each.outputs],
            )
            branch = self._branch(node)
            if branch is None:
                yield node
                continue
            inner = {name for inside in self.source.nodes[branch] for name in inside.outputs}
            longer = self._prefix(node.outputs, f"{prefix}{PREFIX}{branch.rpartition('/')[2]}", inner)
            renamed = {**names, **{name: longer + name for name in inner}}
            renamed |= dict(zip(self.source.results.get(branch, ()), node.outputs, strict=False))
            yield from self.of(self.source.nodes[branch], longer, renamed)

    def _branch(self, node: SourceNode) -> str | None:
        """The path of the branch that stands in place of a node."""
        if node.op_type != "If" or self.executed.runs_if(node.outputs):
            return None
        paths = (f"{node.graph}/{node.label}/{name}" for name in ("then_branch", "else_branch"))
        return next((path for path in paths if any(each.runs for each in self.source.nodes.get(path, ()))), None)

    def _prefix(self, outputs: Sequence[str], start: str, inner: Set[str]) -> str:
        """What stands before the tensors of a branch, by those from which its results are made."""
        told = re.compile(rf"(?P<prefix>{re.escape(start)}(?:_token_\d+)?_)(?P<name>.+)")
        waiting = list(outputs)
        for name in waiting:
            for read in self._producers[name].inputs if name in self._producers else ():
                found = told.fullmatch(read)
                if found and found["name"] in inner:
                    return found["prefix"]
                if read.startswith(start) and read not in waiting:
                    waiting.append(read)
        return f"{start}_"


def results(report: Report) -> dict[str, list[str]]:
    """What each body hands on, by its path."""
    return {
        f"{owner.graph}/{owner.node.name}/{body.name}": [value.name or "" for value in body.graph.outputs]
        for owner, bodies in report.opened.walk.bodies
        for body in bodies
    }

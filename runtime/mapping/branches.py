"""The branch of an If that the runtime put in its place, as it knows the condition when it loads the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from neural_cost.analyzer.report import Report
from neural_cost.runtime.mapping.executed import ExecutedGraph
from neural_cost.runtime.mapping.source import SourceNode

PREFIX = "_if_"  # of nodes and tensors that come from a branch, before the branch's name


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
        return list(self._spliced(self.nodes.get(graph, ()), executed))

    def _spliced(self, nodes: Sequence[SourceNode], executed: ExecutedGraph) -> Iterator[SourceNode]:
        for node in nodes:
            branch = self._branch(node, executed)
            if branch is None:
                yield node
            else:
                yield from self._spliced(self._renamed(branch, node), executed)

    def _branch(self, node: SourceNode, executed: ExecutedGraph) -> str | None:
        """The path of the branch that stands in place of a node."""
        if node.op_type != "If" or executed.runs_if(node.outputs):
            return None
        paths = (f"{node.graph}/{node.label}/{name}" for name in ("then_branch", "else_branch"))
        return next((path for path in paths if any(each.runs for each in self.nodes.get(path, ()))), None)

    def _renamed(self, path: str, owner: SourceNode) -> list[SourceNode]:
        """The nodes of a branch under the names that the runtime gives to them and to their tensors."""
        prefix = f"{PREFIX}{path.rpartition('/')[2]}_"
        nodes = self.nodes[path]
        names = {name: prefix + name for node in nodes for name in node.outputs}
        names |= dict(zip(self.results.get(path, ()), owner.outputs, strict=False))
        return [
            replace(
                node,
                name=prefix + node.name,
                inputs=[names.get(name, name) for name in node.inputs],
                outputs=[names[name] for name in node.outputs],
            )
            for node in nodes
        ]


def results(report: Report) -> dict[str, list[str]]:
    """What each body hands on, by its path."""
    return {
        f"{owner.graph}/{owner.node.name}/{body.name}": [value.name or "" for value in body.graph.outputs]
        for owner, bodies in report.opened.walk.bodies
        for body in bodies
    }

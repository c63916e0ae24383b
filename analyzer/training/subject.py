"""What is trained: the graph, where gradients pass in it, and which memory each tensor lies in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.parameters import Weight, parameters
from neural_cost.analyzer.records import Totals
from neural_cost.analyzer.training.flow import Turn, find_flow
from neural_cost.analyzer.training.links import Link, links, loops
from neural_cost.analyzer.training.storage import Storage, find_storage
from neural_cost.analyzer.training.trained import Trained, choose
from neural_cost.analyzer.training.unfolded import unfold
from neural_cost.analyzer.walk import NodeCost, Walk


@dataclass(frozen=True, slots=True)
class Graph:
    """An analyzed model, as far as training needs it.

    Attributes:
        inputs, outputs: of the graph.
        names, sizes: dimensions that nobody gave, and what they are taken as.
    """

    path: str
    walk: Walk
    nodes: Sequence[NodeCost]
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    totals: Totals
    names: Sequence[str]
    sizes: Mapping[str, int]
    device: Device | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """A model with the weights that are trained.

    Attributes:
        graph: as training runs it.
        run: nodes that inference does not run: they make weights of weights.
    """

    graph: Graph
    run: Sequence[NodeCost]
    weights: Trained
    flow: Sequence[Turn]
    links: Sequence[Link]
    storage: Storage


def subject(graph: Graph, freeze: Iterable[str]) -> Subject:
    """Find what is trained, and where gradients pass.

    Raises:
        OptionError: a pattern fits no weight.
    """
    unfolded = unfold(graph.nodes)
    nodes, now = unfolded.nodes, unfolded.tensor
    read = {name: weight for name, weight in parameters(nodes).items() if name not in unfolded.fills}
    stored = {name: _whole(weight, unfolded.shared) for name, weight in read.items()}
    weights = choose(nodes, stored, freeze, graph.path)
    tied = [Link(now(link.source), now(link.target), link.kind) for link in links(graph.walk)]
    outputs = [now(tensor) for tensor in graph.outputs]
    running = loops(graph.walk)
    flow = find_flow(nodes, weights.tensors, outputs, tied, running)
    trained = replace(graph, nodes=nodes, outputs=outputs, totals=_with(graph.totals, unfolded.run))
    return Subject(trained, unfolded.run, weights, flow, tied, find_storage(nodes, tied, graph.inputs, running))


def _whole(weight: Weight, shared: Mapping[str, Tensor]) -> Weight:
    """The parameter that a weight is a part of."""
    source = shared.get(weight.stored.name)
    return weight if source is None or source.dims is None or None in source.dims else Weight(source, source.size)


def _with(totals: Totals, run: Sequence[NodeCost]) -> Totals:
    """Totals of a pass forward in which these nodes run as well."""
    costs = [each.cost for each in run if each.cost is not None]
    return replace(
        totals,
        complete=totals.complete and len(costs) == len(run),
        macs=totals.macs + sum(cost.macs for cost in costs),
        flops=totals.flops + sum(cost.flops for cost in costs),
    )

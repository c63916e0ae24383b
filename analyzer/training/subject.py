"""What is trained: the graph, where gradients pass in it, and which memory each tensor lies in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from neural_cost.analyzer.device import Device
from neural_cost.analyzer.node import Tensor
from neural_cost.analyzer.parameters import parameters
from neural_cost.analyzer.records import Totals
from neural_cost.analyzer.training.flow import Turn, find_flow
from neural_cost.analyzer.training.links import Link, links, loops
from neural_cost.analyzer.training.storage import Storage, find_storage
from neural_cost.analyzer.training.trained import Trained, choose
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
    """A model with the weights that are trained."""

    graph: Graph
    weights: Trained
    flow: Sequence[Turn]
    links: Sequence[Link]
    storage: Storage


def subject(graph: Graph, freeze: Iterable[str]) -> Subject:
    """Find what is trained, and where gradients pass.

    Raises:
        OptionError: a pattern fits no weight.
    """
    nodes = graph.nodes
    weights = choose(nodes, parameters(nodes), freeze, graph.path)
    tied = links(graph.walk)
    flow = find_flow(nodes, weights.tensors, graph.outputs, tied, loops(graph.walk))
    return Subject(graph, weights, flow, tied, find_storage(nodes, tied, graph.inputs))

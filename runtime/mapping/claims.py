"""Which nodes of the file a kernel computes: all between the tensors that it reads and those that it makes.

A node belongs to one kernel: the first, in the order in which kernels run, that needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from neural_cost.runtime.mapping.aliases import aliases
from neural_cost.runtime.mapping.executed import ExecutedGraph, ExecutedNode
from neural_cost.runtime.mapping.source import SourceGraph, SourceNode
from neural_cost.runtime.mapping.twins import find_twins


@dataclass(eq=False)
class Claim:
    """A kernel, and the places of the source nodes that it computes.

    Attributes:
        graph: of the file, "main" or the path of a body.
        twins: those of the places whose result another of them makes: the kernel computes them once.
        inserted: it does nothing that the file asks for: it only moves data or converts its type.
        joined: it has no node of its own, as it does a part of what the kernel does that reads its result.
    """

    node: ExecutedNode
    graph: str
    places: list[int] = field(default_factory=list)
    twins: set[int] = field(default_factory=set)
    inserted: bool = False
    joined: bool = False


def claim_all(
    executed: ExecutedGraph,
    nodes: Mapping[str, Sequence[SourceNode]],
    graph: str = "main",
    outer: Mapping[str, str] | None = None,
) -> list[Claim]:
    """Claims of every kernel, those of bodies after the node that runs them."""
    source = SourceGraph(nodes.get(graph, ()), executed.tensors)
    found = aliases(executed, source, outer or {})
    find_twins(executed, source, found)
    claims = _Claims(source, executed, found)
    result = []
    for node in executed.nodes:
        claim = claims.of(node, graph)
        result.append(claim)
        for name, body in node.bodies.items():
            owner = claims.owner(claim, node)
            place = f"{graph}/{owner}/{name}"
            result += claim_all(body, nodes, place, found)
    claims.absorb()
    claims.join(result)
    return result


class _Claims:
    """Claims over one graph."""

    def __init__(self, source: SourceGraph, executed: ExecutedGraph, found: Mapping[str, str]) -> None:
        self.source = source
        self.found = found
        self.made = set(found.values())  # a kernel does not make again what another makes
        self.by_node: dict[SourceNode, Claim] = {}
        self.producers = {name: node for node in executed.nodes for name in node.outputs}
        self.readers: dict[str, list[ExecutedNode]] = {}
        for node in executed.nodes:
            for name in node.inputs:
                self.readers.setdefault(name, []).append(node)

    def of(self, node: ExecutedNode, graph: str) -> Claim:
        """Claim what no kernel has claimed before."""
        stops = {self.found[name] for name in self._known_inputs(node)}
        targets = [self.found[name] for name in node.outputs if name in self.found]
        places: list[int] = []
        claim = Claim(node, graph, places)
        makers = [self.source.producers[name] for name in targets if name in self.source.producers]
        runs_constants = bool(makers) and all(each.constant for each in makers)
        for each in self._slice(targets, stops, constants=runs_constants):
            self.by_node[each] = claim
            places.append(each.place)
        places.sort()
        only_moves = node.is_layout or (bool(targets) and stops.issuperset(targets))
        return claim if places or not only_moves else Claim(node, graph, inserted=True)

    def owner(self, claim: Claim, node: ExecutedNode) -> str:
        """Name in the file of the node that a body belongs to."""
        named = self.source.by_name.get(node.name)
        if named is not None and named.op_type == node.op_type:
            return named.name
        mine = [each.name for each, held in self.by_node.items() if held is claim and each.op_type == node.op_type]
        return mine[0] if mine else node.name

    def absorb(self) -> None:
        """Nodes that move data for a kernel which reads it where it was belong to that kernel; so do twins."""
        for each in reversed(self.source.nodes):
            if each.constant or each in self.by_node or not (each.is_layout or self._is_twin(each)):
                continue
            twin = self._twin_claim(each)
            claim = twin or self._reader_claim(each)
            if claim is not None:
                self.by_node[each] = claim
                claim.places.append(each.place)
                claim.places.sort()
            if twin is not None:
                twin.twins.add(each.place)

    def join(self, claims: Sequence[Claim]) -> None:
        """A kernel without nodes of its own, whose result no tensor of the file is, helps the one that reads it."""
        owners = {claim.node: claim for claim in claims}
        for index in reversed(range(len(claims))):
            claim = claims[index]
            if claim.places or claim.inserted or any(name in self.found for name in claim.node.outputs):
                continue
            readers = [reader for name in claim.node.outputs for reader in self.readers.get(name, [])]
            places = sorted({place for reader in readers if reader in owners for place in owners[reader].places})
            if places:
                claim.joined = True
                claim.places.extend(places)

    def _known_inputs(self, node: ExecutedNode) -> Iterator[str]:
        """What a kernel reads, and behind what nothing is known of, what that was made from."""
        waiting, seen = list(node.inputs), set(node.inputs)
        while waiting:
            name = waiting.pop()
            if name in self.found:
                yield name
                continue
            maker = self.producers.get(name)
            more = [each for each in (maker.inputs if maker else ()) if each not in seen]
            seen.update(more)
            waiting += more

    def _slice(self, targets: Sequence[str], stops: set[str], *, constants: bool) -> Iterator[SourceNode]:
        """Nodes from which the targets are made, back to where a kernel starts; `constants` too, if that runs them."""
        roots = {self.source.root(name) for name in stops}
        waiting = [name for name in targets if name not in stops]
        seen: set[SourceNode] = set()
        while waiting:
            name = waiting.pop()
            node = self.source.producers.get(name)
            if node is None or (node.constant and not constants) or node in seen or node in self.by_node:
                continue
            seen.add(node)
            yield node
            for each in map(self.source.first_of, node.inputs):
                if each in self.made or (not node.is_layout and self.source.root(each) in roots):
                    continue
                waiting.append(each)

    def _is_twin(self, node: SourceNode) -> bool:
        return any(name in self.source.twins for name in node.outputs)

    def _twin_claim(self, node: SourceNode) -> Claim | None:
        for name in node.outputs:
            first = self.source.producers.get(self.source.twins.get(name, ""))
            if first is not None and first in self.by_node:
                return self.by_node[first]
        return None

    def _reader_claim(self, node: SourceNode) -> Claim | None:
        for name in node.outputs:
            for reader in self.source.consumers[name]:
                if reader in self.by_node:
                    return self.by_node[reader]
        return None

"""Which nodes of the file a kernel computes: all between the tensors that it reads and those that it makes.

A node belongs to one kernel: the first, in the order in which kernels run, that needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from neural_cost.runtime.mapping.aliases import aliases
from neural_cost.runtime.mapping.branches import Source
from neural_cost.runtime.mapping.claim import Claim, Level
from neural_cost.runtime.mapping.executed import MOVERS, ExecutedGraph, ExecutedNode
from neural_cost.runtime.mapping.pushed import find_pushed
from neural_cost.runtime.mapping.served import find_served
from neural_cost.runtime.mapping.source import SourceGraph, SourceNode
from neural_cost.runtime.mapping.twins import find_twins


def claim_all(executed: ExecutedGraph, source: Source) -> list[Claim]:
    """Claims of every kernel, those of bodies after the node that runs them."""
    found = _claim_graph(executed, source, "main", {}, Level())
    find_pushed(found, source.nodes)
    for claim in found:
        if claim.joins is not None:
            claim.places = list(claim.joins.places)
    find_served(found)
    return found


def _claim_graph(
    executed: ExecutedGraph, file: Source, graph: str, outer: Mapping[str, str], level: Level
) -> list[Claim]:
    """Claims in one graph and its bodies; `outer` are tensors of the file by executed ones in the graphs around."""
    source = SourceGraph(file.seen_as(graph, executed), executed.tensors)
    found = aliases(executed, source, outer)
    find_twins(executed, source, found)
    claims = _Claims(source, executed, found, level)
    result = []
    for node in executed.nodes:
        claim = claims.of(node, graph)
        result.append(claim)
        owner = claims.owner(claim, node) if node.bodies else None
        for name, body in node.bodies.items():
            place = graph if owner is None else f"{owner.graph}/{owner.label}"
            inner = _claim_graph(body, file, f"{place}/{name}", found, Level(level))
            if owner is not None and owner.op_type != node.op_type:
                _help(claim, inner)
            result += inner
    claims.absorb()
    claims.join(result)
    return result


def _help(owner: Claim, body: Iterable[Claim]) -> None:
    """What a body has that stands for an operator of the file which is no loop, and is not of that one's own body."""
    for claim in body:
        if not claim.places:
            claim.joins, claim.inserted = owner, False


class _Claims:
    """Claims over one graph."""

    def __init__(self, source: SourceGraph, executed: ExecutedGraph, found: Mapping[str, str], level: Level) -> None:
        self.source = source
        self.level = level
        self.found = found
        self.made = set(found.values())  # a kernel does not make again what another makes
        self.by_node: dict[SourceNode, Claim] = {}
        self.producers = {name: node for node in executed.nodes for name in node.outputs}

    def of(self, node: ExecutedNode, graph: str) -> Claim:
        """Claim what no kernel has claimed before."""
        stops = {self.found[name] for name in self._known_inputs(node)}
        targets = [self.found[name] for name in node.outputs if name in self.found]
        claim = Claim(node, graph, self.level)
        self.level.add(claim)
        makers = [self.source.producers[name] for name in targets if name in self.source.producers]
        runs_constants = bool(makers) and all(each.constant for each in makers)
        for each in self._slice(targets, stops, constants=runs_constants):
            self.by_node[each] = claim
            claim.places.append(each.place)
        claim.places.sort()
        same = node.op_type in MOVERS and bool(targets) and stops.issuperset(targets)
        claim.inserted = not claim.places and (node.is_layout or same)
        if claim.inserted:
            claim.doubles = next((self.by_node.get(each) for each in makers if each.op_type == node.op_type), None)
        return claim

    def owner(self, claim: Claim, node: ExecutedNode) -> SourceNode | None:
        """The node of the file that a body belongs to."""
        named = self.source.by_name.get(node.name)
        if named is None or named.op_type != node.op_type:
            mine = [each for each, held in self.by_node.items() if held is claim]
            same = [each for each in mine if each.op_type == node.op_type]
            named = next(iter(same or mine), None)
        return named

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
        """A kernel without nodes of its own, whose result no tensor of the file is, helps the first that reads it."""
        for claim in reversed(claims):
            if claim.level is not self.level or claim.places or claim.inserted:
                continue
            if any(name in self.found for name in claim.node.outputs):
                continue
            helped = self._helped(claim)
            if helped is not None:
                claim.joins = helped.joins or helped
                claim.places = list(claim.joins.places)

    def _helped(self, claim: Claim) -> Claim | None:
        """The first kernel with nodes that reads what it makes, or what inserted ones make of that."""
        waiting = [claim]
        for each in waiting:
            readers = [reader for name in each.node.outputs for reader in self.level.readers(name)]
            found = next((reader for reader in readers if reader.places), None)
            if found is not None:
                return found
            waiting += [reader for reader in readers if reader.inserted]
        return None

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

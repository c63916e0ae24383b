"""Normalizations and activations that a file writes out as many small nodes, and that are one kernel once found."""

from __future__ import annotations

from neural_cost.analyzer.fusion.graph import FusionGraph, Group

MOST = 14  # nodes of such a pattern
SMALL = ("Add", "Sub", "Mul", "Div", "Pow", "Sqrt", "Reciprocal", "Cast", "ReduceMean", "Erf", "Tanh")


def layer_normalization(graph: FusionGraph, place: int) -> Group | None:
    """From the first mean to the scale and shift: x - mean, the mean of its square, a root, a quotient."""
    x = graph.node(place).input(0)
    after = graph.next(place)
    if x is None or after is None or graph.op(after) != "Sub":
        return None
    members = _closed(graph, after, {x.name}, place)
    kinds = [graph.op(each) for each in members]
    if kinds.count("ReduceMean") != 2 or "Sqrt" not in kinds or "Div" not in kinds:
        return None
    return Group(tuple(sorted(members)), max(members), "LayerNormalization")


def gelu_by_erf(graph: FusionGraph, place: int) -> Group | None:
    """x / sqrt(2), Erf, + 1, times x, times a half."""
    return _around(graph, place, "Erf", "Gelu")


def gelu_by_tanh(graph: FusionGraph, place: int) -> Group | None:
    """The cubic that approximates it, Tanh, + 1, times x, times a half."""
    return _around(graph, place, "Tanh", "FastGelu")


def _around(graph: FusionGraph, place: int, function: str, kernel: str) -> Group | None:
    """Nodes on all ways from one tensor through the function, up to the product with that tensor."""
    members = {place}
    root: str | None = None
    stack = [place]
    while stack:
        sources = [tensor.name for tensor in graph.activations(stack.pop())]
        for name in sources:
            writer = graph.writers.get(name)
            cubic = function == "Tanh" and writer is not None and graph.op(writer) in ("Mul", "Add", "Pow")
            inner = (
                writer is not None
                and graph.runs(writer)
                and writer not in members
                and (cubic or graph.op(writer) in ("Div", "Mul"))
                and len(members) < MOST
                and len(graph.activations(writer)) >= 1
                and _has_constant_or_pair(graph, writer)
            )
            if inner and writer is not None:
                members.add(writer)
                stack.append(writer)
            elif writer not in members:
                root = name if root in (None, name) else ""
    if not root:
        return None
    return _up_to_product(graph, place, members, root, kernel)


def _has_constant_or_pair(graph: FusionGraph, place: int) -> bool:
    """Whether it computes with a constant, or with one tensor and what is made of it."""
    return any(t is not None and t.constant for t in graph.node(place).inputs) or len(graph.activations(place)) == 2


def _up_to_product(graph: FusionGraph, place: int, members: set[int], root: str, kernel: str) -> Group | None:
    last = graph.next(place)
    seen_add = False
    while last is not None and graph.op(last) in ("Add", "Mul") and len(members) < MOST:
        members.add(last)
        seen_add = seen_add or graph.op(last) == "Add"
        after = graph.next(last)
        more = after is not None and graph.op(after) == "Mul" and _scaled_or_rooted(graph, after, root)
        if seen_add and not more:
            break
        last = after
    outside = {t.name for each in members for t in graph.activations(each)} - _made(graph, members)
    half = {name for name in outside if name != root and _is_scaled(graph, name, root)}
    members |= {graph.writers[name] for name in half}
    if outside - half - {root} or not seen_add:
        return None
    return Group(tuple(sorted(members)), max(members), kernel)


def _is_scaled(graph: FusionGraph, name: str, root: str) -> bool:
    """Whether a tensor is the root times a constant, made for this alone."""
    writer = graph.writers.get(name)
    if writer is None or graph.op(writer) not in ("Mul", "Div") or graph.next(writer) is None:
        return False
    return [tensor.name for tensor in graph.activations(writer)] == [root]


def _scaled_or_rooted(graph: FusionGraph, place: int, root: str) -> bool:
    sources = {tensor.name for tensor in graph.activations(place)}
    return len(sources) == 1 or root in sources or any(_is_scaled(graph, name, root) for name in sources)


def _made(graph: FusionGraph, members: set[int]) -> set[str]:
    return {t.name for each in members for t in graph.node(each).outputs if t is not None}


def _closed(graph: FusionGraph, start: int, given: set[str], first: int) -> set[int]:
    """Small nodes that follow from one and need nothing else than constants and what is given."""
    members, names, stack = {first, start}, given | _made(graph, {first, start}), [start]
    while stack and len(members) < MOST:
        for tensor in graph.node(stack.pop()).outputs:
            for reader in sorted(graph.readers.get(tensor.name, ()) if tensor is not None else ()):
                if (
                    reader >= 0
                    and reader not in members
                    and graph.op(reader) in SMALL
                    and _is_ready(graph, reader, names)
                ):
                    members.add(reader)
                    names |= _made(graph, {reader})
                    stack.append(reader)
    return _cut(graph, members)


def _is_ready(graph: FusionGraph, place: int, names: set[str]) -> bool:
    return all(tensor.name in names for tensor in graph.activations(place))


def _cut(graph: FusionGraph, members: set[int]) -> set[int]:
    """Up to the shift: after the quotient, one product and one sum with constants."""
    divides = [each for each in sorted(members) if graph.op(each) == "Div"]
    if not divides:
        return set()
    kept = {each for each in members if each <= divides[0]}
    last = divides[0]
    for operator in ("Mul", "Add"):
        after = graph.next(last)
        if after is None or after not in members or graph.op(after) != operator:
            break
        kept.add(after)
        last = after
    return kept

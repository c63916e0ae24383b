"""Elementwise nodes one after another, each of which reads what the one before has just written."""

from __future__ import annotations

from collections.abc import Iterator

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject

SHARE = 0.01  # of the whole time
KINDS = ("elementwise", "contrib_elementwise")


def chains(subject: Subject) -> Iterator[Finding]:
    """Chains of elementwise nodes that run one by one, and would move less as one kernel."""
    found = [chain for chain in _chains(subject) if subject.kernel_count(chain) > 1]
    saved = [(chain, subject.savings(chain, subject.bound_of(chain, together=True)) or 0.0) for chain in found]
    saved = [(chain, saves) for chain, saves in saved if saves > 0]
    places = [place for chain, _ in saved for place in chain]
    most = sum(saves for _, saves in saved)
    if saved and subject.matters(most, SHARE):
        longest = max((chain for chain, _ in saved), key=len)
        names = " > ".join(subject.nodes[place].op_type for place in longest[:8])
        yield subject.finding(
            "unfused-elementwise",
            places,
            f"{len(places)} elementwise nodes in {len(saved)} chains {subject.took(places)}; the longest is {names}"
            f"{' > ...' if len(longest) > 8 else ''}",
            most,
            "write them as an operator that has them all (Gelu, HardSwish, LayerNormalization, Swish), raise the opset "
            "of the export so that the exporter does, or run in a backend that fuses them (torch.compile, XLA)",
        )


def _chains(subject: Subject) -> Iterator[list[int]]:
    """Chains as long as they go: each node but the last has one reader, the next."""
    following = {place: after for place in range(len(subject.nodes)) if (after := _next(subject, place)) is not None}
    for start in sorted(set(following) - set(following.values())):
        chain = [start]
        while chain[-1] in following:
            chain.append(following[chain[-1]])
        yield chain


def _next(subject: Subject, place: int) -> int | None:
    """The elementwise node that alone reads what this one writes."""
    if not _counts(subject, place):
        return None
    node = subject.nodes[place]
    readers = set().union(*(subject.readers.get(tensor.name, set()) for tensor in node.outputs))
    if len(readers) != 1:
        return None
    after = next(iter(readers))
    same = after >= 0 and _counts(subject, after) and subject.nodes[after].graph == node.graph
    first = same and _first_writer(subject, after) == place
    return after if first else None


def _first_writer(subject: Subject, place: int) -> int | None:
    """Of the elementwise nodes whose results a node reads, the first one: where two chains meet, one goes on."""
    names = [tensor.name for tensor in subject.nodes[place].inputs]
    writers = [subject.writers[name] for name in names if name in subject.writers]
    found = [place for place in writers if _counts(subject, place) and _only_reader(subject, place)]
    return min(found, default=None)


def _only_reader(subject: Subject, place: int) -> bool:
    return all(len(subject.readers.get(tensor.name, ())) == 1 for tensor in subject.nodes[place].outputs)


def _counts(subject: Subject, place: int) -> bool:
    return subject.nodes[place].kind in KINDS and subject.runs(place)

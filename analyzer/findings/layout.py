"""Conversions of layout and type: those that the runtime inserts, and those that the file asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.measurement import Kernel
from neural_cost.analyzer.tables.figures import seconds

OF_LAYOUT = (
    "these stand where a layout or type changes: keep what is between two convolutions to operators that the runtime "
    "has in the blocked layout (channels in multiples of its block, no shuffle, no axis of a Concat or Split other "
    "than channels), or run at --opt-level extended, which has no blocked layout, and compare"
)
OF_TYPES = (
    "the runtime has no kernel for these types here and computes in wider ones: keep a file in float32 for this "
    "machine, or run it where the type has kernels"
)
SHARE = 0.01  # of the whole time


def inserted(subject: Subject) -> Iterator[Finding]:
    """Reorders, transposes, casts and copies that ran and are in no node of the file; the nodes that they serve."""
    found = [kernel for kernel in subject.kernels if kernel.inserted]
    time = None if subject.gap is None else subject.gap.seconds("conversion")
    if found and subject.matters(time, SHARE):
        counts = Counter(kernel.op_type for kernel in found).most_common()
        kinds = ", ".join(f"{count} {kind}" for kind, count in counts)
        places = _served(subject, found)
        served = f", for {len(places)} node{'' if len(places) == 1 else 's'}" if places else ""
        yield subject.finding(
            "inserted-conversions",
            places,
            f"the runtime inserts {kinds}, which take {seconds(time)}{served}",
            time,
            OF_TYPES if counts[0][0] == "Cast" else OF_LAYOUT,
        )


def _served(subject: Subject, inserted: Sequence[Kernel]) -> list[int]:
    """The nodes that inserted kernels serve, those first for which they take longest."""
    places = sorted({place for kernel in inserted for place in kernel.serves})
    took = {} if subject.gap is None else subject.gap.nodes
    return sorted(places, key=lambda place: -took[place].conversion_s if place in took else 0.0)


def transposes(subject: Subject) -> Iterator[Finding]:
    """Transposes of the file that move data."""
    yield from _nodes(
        subject,
        "transposes",
        ("Transpose",),
        "move data without computing on it",
        "transpose weights once in the file, let the product take its operand transposed (transA and transB of Gemm), "
        "or export in the layout that the next operator wants",
    )


def casts(subject: Subject) -> Iterator[Finding]:
    """Casts of the file between types of data."""
    yield from _nodes(
        subject,
        "casts",
        ("Cast", "CastLike"),
        "only convert a type",
        "keep one type from end to end: export the whole model in it, or convert the weights in the file",
    )


def _nodes(subject: Subject, id_: str, operators: tuple[str, ...], what: str, advice: str) -> Iterator[Finding]:
    places = [place for place, node in enumerate(subject.nodes) if _alone(subject, place, operators)]
    time = subject.seconds(places)
    if places and time and subject.matters(time, SHARE):
        evidence = f"{len(places)} {operators[0]} nodes {what}: they {subject.took(places)}"
        yield subject.finding(id_, places, evidence, time, advice)


def _alone(subject: Subject, place: int, operators: tuple[str, ...]) -> bool:
    """Whether a node of these operators is a kernel of its own, or no run says that it is none."""
    if subject.nodes[place].operator not in operators or not subject.runs(place):
        return False
    kernel = subject.kernel_of.get(place)
    return kernel is None or all(subject.nodes[each].operator in operators for each in kernel.source_nodes)

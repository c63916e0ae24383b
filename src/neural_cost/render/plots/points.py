"""What a roofline shows: a point for each node or kernel, and how many there are of those that cannot be one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neural_cost.analyzer.measurement import Kernel
    from neural_cost.analyzer.records import NodeRecord
    from neural_cost.analyzer.report import Report

# The kinds of rules that stand under one colour; what is not named is "other".
GROUPS: Mapping[str, Sequence[str]] = {
    "contraction": ("contraction",),
    "elementwise": ("elementwise", "contrib_elementwise", "quantized_elementwise", "rotary"),
    "normalization": ("normalization", "contrib_normalization", "softmax"),
    "reduction, pooling": ("reduction", "pooling"),
    "movement": ("movement", "indexing", "sequences", "views"),
    "quantization": ("quantization",),
}
OTHER = "other"
TELLING = 8  # characters of a name that says more than a number


@dataclass(frozen=True, slots=True)
class Point:
    """A node or a kernel, all its executions in one run of the model.

    Attributes:
        name: of the node, or of that node of a kernel that does the most.
        more: further nodes that the kernel does.
        group: one of `GROUPS`, or "other".
        flops, bytes: what it computes, and must move.
        seconds: measured; or, where nothing ran, its bound.
        bound_s: seconds that the device cannot beat; None where there is no figure.
        measured: it ran.
    """

    name: str
    more: int
    group: str
    flops: int
    bytes: int
    seconds: float
    bound_s: float | None
    measured: bool

    @property
    def intensity(self) -> float:
        """FLOPs per byte."""
        return self.flops / self.bytes

    @property
    def flops_per_s(self) -> float:
        """FLOP/s reached, or at best."""
        return self.flops / self.seconds

    @property
    def bytes_per_s(self) -> float:
        """Bytes/s reached, or at best, of those that must be moved."""
        return self.bytes / self.seconds

    @property
    def compared(self) -> bool:
        """Whether its time was measured and can be held against a bound."""
        return self.measured and self.bound_s is not None

    @property
    def lost_s(self) -> float:
        """Seconds above the bound; all of them where they cannot be held against one: that is where time goes."""
        return self.seconds - (self.bound_s or 0.0) if self.compared else self.seconds

    @property
    def violated(self) -> bool:
        """Whether it ran faster than its bound: a figure of the device is too low."""
        return self.compared and self.lost_s < 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Nodes or kernels that are no point, for one reason; their time where it was measured."""

    why: str
    number: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Points:
    """All nodes, or all kernels.

    Attributes:
        points: those with a place on the roofline.
        movers: those that move bytes and compute nothing: intensity 0, which no logarithmic axis has.
        left_out: the others, by reason.
        measured: they ran.
    """

    points: tuple[Point, ...]
    movers: tuple[Point, ...]
    left_out: tuple[LeftOut, ...]
    measured: bool

    @property
    def number(self) -> int:
        """Of all nodes or kernels, drawn or not."""
        return len(self.points) + len(self.movers) + sum(each.number for each in self.left_out)

    @property
    def seconds(self) -> float:
        """Time of all of them whose time is known."""
        drawn = sum(point.seconds for point in (*self.points, *self.movers))
        return drawn + sum(each.seconds or 0.0 for each in self.left_out)


def group_of(kind: str) -> str:
    """The group that a kind of rule belongs to."""
    return next((group for group, kinds in GROUPS.items() if kind in kinds), OTHER)


def node_points(report: Report) -> Points:
    """A point for each node of a report that has a bound: its rate is the one that the device cannot exceed."""
    return _sorted([_node(node) for node in report.nodes], measured=False)


def kernel_points(report: Report, kernels: Iterable[Kernel]) -> Points:
    """A point for each kernel that ran and of which it is known what it does, at the rate that it reached."""
    return _sorted([_kernel(report, kernel) for kernel in kernels], measured=True)


def _sorted(found: Sequence[Point | LeftOut], *, measured: bool) -> Points:
    points = [each for each in found if isinstance(each, Point)]
    return Points(
        tuple(point for point in points if point.flops),
        tuple(point for point in points if not point.flops),
        tuple(_together(each for each in found if isinstance(each, LeftOut))),
        measured,
    )


def _together(parts: Iterable[LeftOut]) -> Iterator[LeftOut]:
    """The sum of those that have one reason."""
    by_reason: dict[str, list[LeftOut]] = {}
    for part in parts:
        by_reason.setdefault(part.why, []).append(part)
    for why, same in by_reason.items():
        known = [part.seconds for part in same if part.seconds is not None]
        yield LeftOut(why, sum(part.number for part in same), sum(known) if known else None)


def _node(node: NodeRecord) -> Point | LeftOut:
    why = _why_no_point(node)
    if why is not None:
        return LeftOut(why, 1, None)
    cost, repeats = node.source.cost, node.repeats
    assert cost is not None
    assert repeats is not None
    assert node.bound_s is not None
    seconds = node.bound_s * repeats
    flops, moved = int(cost.flops * repeats), int(cost.traffic_bytes * repeats)
    return Point(_named(node), 0, group_of(node.kind), flops, moved, seconds, seconds, measured=False)


def _why_no_point(node: NodeRecord) -> str | None:
    cost = node.source.cost
    if node.constant:
        return "computed at load time"
    if cost is None:
        return "of unknown cost"
    if node.repeats is None:
        return "that run no one knows how often"
    if node.repeats == 0:
        return "in branches that are not counted"
    return _why_no_place(cost.flops, cost.traffic_bytes) or (
        None if node.bound_s else "without a bound, as a figure of the device is missing"
    )


def _why_no_place(flops: int, moved: int) -> str | None:
    if moved > 0:
        return None
    return "with FLOPs and no bytes" if flops > 0 else "without FLOPs and bytes"


def _kernel(report: Report, kernel: Kernel) -> Point | LeftOut:
    why = _why_no_kernel(kernel)
    if why is not None:
        return LeftOut(why, 1, kernel.seconds)
    flops, moved = kernel.flops, kernel.bytes
    assert flops is not None
    assert moved is not None
    nodes = [report.nodes[place] for place in kernel.source_nodes]
    main = max(nodes, key=lambda node: (node.flops or 0, (node.read_bytes or 0) + (node.write_bytes or 0)))
    group = group_of(main.kind)
    return Point(_named(main), len(nodes) - 1, group, flops, moved, kernel.seconds, kernel.bound_s, measured=True)


def _why_no_kernel(kernel: Kernel) -> str | None:
    if kernel.inserted:
        return "inserted by the runtime (reorders, casts, copies)"
    if not kernel.mapped:
        return "not mapped to nodes"
    if kernel.joined or kernel.helped:
        return "several for the work of the same nodes"
    if kernel.flops is None or kernel.bytes is None:
        return "of unknown cost"
    if kernel.seconds <= 0:
        return "shorter than the clock tells"
    return _why_no_place(kernel.flops, kernel.bytes)


def _named(node: NodeRecord) -> str:
    name = node.name or str(node.index)
    return name if len(name) >= TELLING or node.op_type.lower() in name.lower() else f"{node.op_type} {name}"

"""Gap: measured time as a floor and causes, which add up to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from neural_cost.analyzer.record import Record
from neural_cost.analyzer.roofline import LimitedBy

# What the time above the floor goes to, in the order in which it is laid to them.
CAUSES: Mapping[str, str] = {
    "overlap": "compute and memory each wait for the other: kernels that need mostly one of them run one after another",
    "fusion": "traffic between kernels that perfect fusion would save",
    "size": "products of this size reach less than the best peak",
    "kernel": "kernels take longer than they could at their size",
    "conversion": "reorders, transposes, casts and copies that the runtime inserts",
    "dispatch": "starting kernels, and what runs between them",
    "jitter": "the median run takes longer than the fastest",
    "unexplained": "kernels of which it is not known what they do or what that costs",
    "bound violated": "kernels that ran faster than their bound: the device's figures are too low for them",
    "left out": "work that the floor counts and no kernel did",
}
FAULTS = ("bound violated", "left out")  # of the model of the machine, or of the graph: their time is below 0


@dataclass(frozen=True, slots=True)
class Cause(Record):
    """A part of the gap.

    Attributes:
        cause: one of `CAUSES`.
        seconds: of one run; below 0 for a fault alone.
    """

    cause: str
    seconds: float

    @property
    def fault(self) -> bool:
        """Whether it is no time that a run took, but tells that a figure is wrong."""
        return self.cause in FAULTS

    @property
    def what(self) -> str:
        """What it is, in words."""
        return CAUSES[self.cause]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"cause": self.cause, "seconds": self.seconds, "fault": self.fault}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts(Record):
    """The time of a kernel, or a node's part of it, in seconds of one run: floor and causes add up to `seconds`.

    Attributes:
        compute_s, memory_s: what its FLOPs need at the best peak, and its compulsory bytes at the bandwidth of all.
        fusion_s, size_s, kernel_s, conversion_s, dispatch_s: see `CAUSES`; conversions are those of what it makes, or
            of what it reads where no kernel makes that.
        violated_s: 0, or below 0 where it took less than its bound.
    """

    compute_s: float = 0.0
    memory_s: float = 0.0
    fusion_s: float = 0.0
    size_s: float = 0.0
    kernel_s: float = 0.0
    conversion_s: float = 0.0
    dispatch_s: float = 0.0
    violated_s: float = 0.0

    @property
    def floor_s(self) -> float:
        """The larger one of compute and memory."""
        return max(self.compute_s, self.memory_s)

    @property
    def seconds(self) -> float:
        """What it took."""
        return self.floor_s + sum(seconds for _, seconds in self.causes)

    @property
    def causes(self) -> list[tuple[str, float]]:
        """The causes by their names."""
        return [
            ("fusion", self.fusion_s),
            ("size", self.size_s),
            ("kernel", self.kernel_s),
            ("conversion", self.conversion_s),
            ("dispatch", self.dispatch_s),
            ("bound violated", self.violated_s),
        ]

    def times(self, share: float) -> Parts:
        """A part of it."""
        return Parts(**{name: share * getattr(self, name) for name in self.__slots__})

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "seconds": self.seconds,
            "floor_s": self.floor_s,
            "causes": {name: seconds for name, seconds in self.causes if seconds},
        }


def together(parts: Iterable[Parts]) -> Parts:
    """The sum of several: its floor is at most the sum of theirs, as the floor of all overlaps more."""
    found = list(parts)
    return Parts(**{name: sum(getattr(each, name) for each in found) for name in Parts.__slots__})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGap(Record):
    """The gap of a node, or of all nodes of a module.

    Attributes:
        name: of the node, or of the module.
        places: its nodes in the report's list.
        seconds: kernel time that is theirs.
        floor_s: of the group at once.
        causes: floor and causes add up to `seconds`.
    """

    name: str
    places: tuple[int, ...]
    seconds: float
    floor_s: float
    causes: tuple[Cause, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "places": list(self.places),
            "seconds": self.seconds,
            "floor_s": self.floor_s,
            "causes": [cause.to_dict() for cause in self.causes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap(Record):
    """Measured time = floor + causes, exactly.

    Attributes:
        measured_s: the median run.
        floor_s: what the device cannot beat: the whole model at once. 0 where nothing of it is known.
        limited_by: what the floor is made of.
        device: whose figures these are, and `kind`: "datasheet" or "measured".
        causes: all of them, those of 0 seconds too, in order.
        bound_violated: the fastest run was faster than the floor: a figure of the device is too low.
        nodes: of each node that ran, its part of its kernel and of the conversions that are inserted for that; what is
            not of a node (jitter, time between kernels, unexplained) is in `causes` alone.
        notes: what makes it doubtful or less than it could be.
    """

    measured_s: float
    floor_s: float
    limited_by: LimitedBy
    device: str
    kind: str
    causes: tuple[Cause, ...]
    bound_violated: bool
    nodes: Mapping[int, Parts]
    notes: tuple[str, ...] = ()

    @property
    def gap_s(self) -> float:
        """Measured time above the floor."""
        return self.measured_s - self.floor_s

    @property
    def explained_share(self) -> float:
        """Of the measured time, what has a floor or a cause with a name."""
        known = {"unexplained", *FAULTS}
        return 1 - sum(abs(cause.seconds) for cause in self.causes if cause.cause in known) / self.measured_s

    @property
    def efficiency(self) -> float:
        """Floor / measured."""
        return self.floor_s / self.measured_s

    def render(self) -> str:
        """The waterfall that `print` shows."""
        return str(self)

    def __str__(self) -> str:
        """A waterfall from the floor to what was measured."""
        from neural_cost.analyzer.tables.gap import gap_blocks
        from neural_cost.analyzer.tables.text import to_text

        return to_text(gap_blocks(self))

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        from neural_cost.analyzer.tables.gap import gap_blocks
        from neural_cost.analyzer.tables.html import to_html

        return to_html(gap_blocks(self))

    def seconds(self, cause: str) -> float:
        """Of one cause."""
        return next(each.seconds for each in self.causes if each.cause == cause)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = ("measured_s", "floor_s", "limited_by", "device", "kind", "bound_violated", "explained_share")
        return {name: getattr(self, name) for name in names} | {
            "causes": [cause.to_dict() for cause in self.causes],
            "nodes": [{"node": place, **parts.to_dict()} for place, parts in self.nodes.items()],
            "notes": list(self.notes),
        }

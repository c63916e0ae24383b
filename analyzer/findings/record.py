"""Finding: one thing that may be made faster, with its evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neural_cost.analyzer.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Record):
    """One thing that may be made faster.

    Attributes:
        id: what sort of thing; the same in every version.
        nodes: places in the report's list of nodes.
        evidence: what was seen, in numbers.
        saves_at_most_s: seconds of a run that this can save at most, from bounds: of a measured run the time of these
            nodes less what the device needs for the work that is left; of a prediction what their own bounds say. None
            where that is not known.
        advice: what to do.
        predicted: nothing ran: it is from the graph, and the times are lower bounds.
    """

    id: str
    nodes: tuple[int, ...]
    evidence: str
    saves_at_most_s: float | None
    advice: str
    predicted: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = ("id", "evidence", "saves_at_most_s", "advice", "predicted")
        return {name: getattr(self, name) for name in names} | {"nodes": list(self.nodes)}

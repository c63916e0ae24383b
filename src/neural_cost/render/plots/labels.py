"""Where labels go: beside what they name, inside their frame, on no other label. In pixels, y upwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin

RINGS = (10.0, 16.0, 24.0, 34.0, 46.0, 60.0, 80.0, 105.0, 135.0, 170.0)  # distances that are tried, nearest first
DIRECTIONS = 16


@dataclass(frozen=True, slots=True)
class Spot:
    """Something round that a label had better not cover, and what it weighs as a distance."""

    x: float
    y: float
    weight: float
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share more than an edge."""
        beside = self.right <= other.left or other.right <= self.left
        return not (beside or self.top <= other.bottom or other.top <= self.bottom)

    def holds(self, other: Box) -> bool:
        """Whether the other is inside."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.bottom <= other.bottom and other.top <= self.top

    def covers(self, spot: Spot) -> bool:
        """Whether it lies over a spot."""
        across = self.left - spot.radius <= spot.x <= self.right + spot.radius
        return across and self.bottom - spot.radius <= spot.y <= self.top + spot.radius

    def grown(self, by: float) -> Box:
        """The same with a margin."""
        return Box(self.left - by, self.bottom - by, self.right + by, self.top + by)


def place(  # noqa: PLR0917
    size: tuple[float, float],
    at: tuple[float, float],
    frame: Box,
    taken: Iterable[Box],
    spare: Sequence[Spot] = (),
    radius: float = 0.0,
) -> Box | None:
    """A place for a label near what it names, which has a radius; None where there is none.

    Of the places that overlap nothing taken it is the nearest; one that covers what is to be spared is as good as
    another that is further away by its weight.
    """
    taken = list(taken)
    free = [
        (distance, box)
        for distance, box in _candidates(size, at, radius)
        if frame.holds(box) and not any(box.overlaps(other) for other in taken)
    ]
    if not free:
        return None
    near = [spot for spot in spare if hypot(spot.x - at[0], spot.y - at[1]) < radius + RINGS[-1] + max(size)]
    return min(free, key=lambda each: each[0] + sum(spot.weight for spot in near if each[1].covers(spot)))[1]


def spread(wanted: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Positions near those wanted, given in rising order, each at least so far from the next, as far as they fit."""
    found: list[float] = []
    for position in wanted:
        found.append(max(position, found[-1] + apart) if found else max(position, low))
    limit = high
    for place_ in reversed(range(len(found))):
        found[place_] = min(found[place_], limit)
        limit = found[place_] - apart
    return found


def along(start: tuple[float, float], angle: float, size: tuple[float, float], lift: float) -> tuple[Box, ...]:
    """The room of a text that runs along a slope, as small boxes; `start` is the slope's, `lift` how far above it.

    `angle` is in radians; `size` that of the text when it lies flat.
    """
    width, height = size
    steps = max(1, round(width / height))
    step = width / steps
    middle = lift + height / 2
    reach = (step / 2 * cos(angle) + height / 2 * sin(angle), step / 2 * sin(angle) + height / 2 * cos(angle))
    return tuple(
        Box(x - reach[0], y - reach[1], x + reach[0], y + reach[1])
        for k in range(steps)
        for x, y in [
            (
                start[0] + (k + 0.5) * step * cos(angle) - middle * sin(angle),
                start[1] + (k + 0.5) * step * sin(angle) + middle * cos(angle),
            )
        ]
    )


def _candidates(size: tuple[float, float], at: tuple[float, float], radius: float) -> Iterator[tuple[float, Box]]:
    """Boxes around a point, the corner or side that faces it at each distance beyond its radius."""
    width, height = size
    for distance in RINGS:
        for k in range(DIRECTIONS):
            angle = pi / 4 + 2 * pi * k / DIRECTIONS
            x, y = at[0] + (radius + distance) * cos(angle), at[1] + (radius + distance) * sin(angle)
            left = x - width * (1 - cos(angle)) / 2
            bottom = y - height * (1 - sin(angle)) / 2
            yield distance, Box(left, bottom, left + width, bottom + height)

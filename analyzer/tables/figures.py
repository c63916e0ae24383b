"""Figures as people read them. An unknown figure is said to be unknown, never 0."""

from __future__ import annotations

from decimal import Decimal

UNKNOWN = "unknown"
COUNTS = tuple((prefix, 1000 ** (10 - place)) for place, prefix in enumerate("QRYZEPTGMK"))
SIZES = tuple((f"{prefix}B", scale) for prefix, scale in COUNTS)
TIMES = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))


def count(value: int | None, *, least: bool = False) -> str:
    """A count with the unit that fits it; `least` says that something is left out of it."""
    return _prefixed(value, COUNTS, "", least)


def size(value: int | None, *, least: bool = False) -> str:
    """Bytes, in powers of 1000."""
    return _prefixed(value, SIZES, "B", least)


def thread_count(value: int) -> str:
    """So many threads."""
    return f"{value} thread{'' if value == 1 else 's'}"


def seconds(value: float | None) -> str:
    """A time with the unit that fits it."""
    if value is None:
        return UNKNOWN
    unit, scale = next(((unit, scale) for unit, scale in TIMES if value >= scale), ("ns", 1e-9))
    return f"{plain(value / scale)} {unit}"


def plain(value: float) -> str:
    """Four digits that count, without an exponent: 13120, 1.5, 0.354."""
    return format(Decimal(f"{value:.4g}"), "f")


def share(part: float | None, whole: float | None) -> str:
    """A part in percent; empty where there is nothing to be a part of."""
    if part is None:
        return UNKNOWN
    return f"{part / whole:.1%}" if whole else ""


def clean(text: str) -> str:
    """A name from a file, without the characters that a terminal would obey or that break a line."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def _prefixed(value: int | None, units: tuple[tuple[str, int], ...], bare: str, least: bool) -> str:
    if value is None:
        return UNKNOWN
    fits = (each for each in units if round(1000 * value / each[1], 2) >= 1000)  # 999,999 is no 1000.00 K
    unit, scale = next(fits, (bare, 1))
    number = f"{value / scale:.2f}" if scale > 1 else str(value)
    return f"{'>= ' if least else ''}{number} {unit}".rstrip()

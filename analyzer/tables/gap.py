"""The gap as blocks: from the floor to the measured time, a bar for each cause; modules and nodes."""

from __future__ import annotations

from collections.abc import Sequence

from neural_cost.analyzer.gap.record import CAUSES, FAULTS, Gap, GroupGap
from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import seconds, share

WIDTH = 24  # characters of the whole measured time
FULL, PARTS, BEFORE = "\N{FULL BLOCK}", " ▏▎▍▌▋▊▉", "\N{MIDDLE DOT}"


def gap_blocks(gap: Gap) -> list[Block]:
    """A waterfall: the floor, what each cause adds, and what was measured; causes without time are left out."""
    lines = [_line("floor", gap.floor_s, 0.0, gap, f"limited by {gap.limited_by}")]
    reached = gap.floor_s
    for cause in gap.causes:
        if cause.seconds and f"{abs(cause.seconds) / gap.measured_s:.1%}" != "0.0%":
            lines.append(_line(cause.cause, cause.seconds, reached, gap, cause.what))
        reached += cause.seconds
    lines.append(_line("measured", gap.measured_s, 0.0, gap, "the median run"))
    headings = [Heading("", "name"), Heading("time"), Heading("share"), Heading("", "remark"), Heading("", "remark")]
    alarms = [place for place, line in enumerate(lines) if line[0] in FAULTS]
    title = f"Where the time goes, against {gap.device} ({gap.kind})"
    return [
        Grid(title, headings, lines, alarms=alarms),
        *(Paragraph(f"  {note}", "quiet") for note in gap.notes),
    ]


def group_grid(title: str, groups: Sequence[GroupGap], top: int) -> Grid:
    """A line for each module or node: its time, its floor, and the largest cause of the rest."""
    headings = [
        Heading("", "name"),
        Heading("time"),
        Heading("floor"),
        Heading("of floor"),
        Heading("most of the rest", "remark"),
    ]
    shown = groups[:top]
    of = "" if len(shown) == len(groups) else f", {len(shown)} of {len(groups)}"
    lines = [
        [
            group.name,
            seconds(group.seconds),
            seconds(group.floor_s),
            share(group.floor_s, group.seconds),
            _largest(group),
        ]
        for group in shown
    ]
    return Grid(f"{title}{of}", headings, lines)


def _largest(group: GroupGap) -> str:
    cause = max(group.causes, key=lambda cause: cause.seconds, default=None)
    if cause is None or cause.seconds <= 0:
        return ""
    return f"{cause.cause}: {seconds(cause.seconds)} ({share(cause.seconds, group.seconds)})"


def _line(name: str, time: float, start: float, gap: Gap, remark: str) -> list[str]:
    sign = "-" if time < 0 else "+" if start or name in CAUSES else ""
    return [
        name,
        f"{sign}{seconds(abs(time))}",
        f"{time / gap.measured_s:.1%}",
        bar(start, time, gap.measured_s),
        remark,
    ]


def bar(start: float, length: float, whole: float, width: int = WIDTH) -> str:
    """A bar from `start` that is `length` long, where `whole` has the width; one below 0 goes back from its start."""
    low, high = (start + length, start) if length < 0 else (start, start + length)
    begin, end = (round(8 * width * place / whole) for place in (low, high))
    before = min(begin // 8, width - 1)
    eighths = min(end - 8 * (begin // 8), 8 * (width - before))
    text = FULL * (eighths // 8) + (PARTS[eighths % 8] if eighths % 8 else "")
    return BEFORE * before + (text or PARTS[1])

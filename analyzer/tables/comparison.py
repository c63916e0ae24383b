"""A comparison as blocks: a line for each backend, and what failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neural_cost.analyzer.comparison import BackendResult, Comparison
from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import seconds, size, thread_count
from neural_cost.analyzer.tables.findings import findings_blocks


def comparison_page(found: Comparison, *, quiet: bool = False) -> list[Block]:
    """All that a table shows of a comparison."""
    sizes = ", ".join(f"{name} = {value}" for name, value in found.dims.items())
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    head = [
        Paragraph(f"{found.target}{f' at {sizes}' if sizes else ''}, {_where(found)}", "title"),
        *([] if quiet else [Paragraph(f"{found.date[:10]}; {versions}", "quiet")]),
    ]
    failed = [Paragraph(f"{each.name}: {each.error}", "warning") for each in found.backends if each.error]
    notes = [Paragraph(f"{each.name}: {note}", "quiet") for each in found.backends for note in each.notes]
    notes += [Paragraph(note, "warning") for note in found.notes]
    apart = [each.name for each in found.backends if each.within is False]
    wrong = [Paragraph(f"other results than {found.reference}: {', '.join(apart)}", "alarm")] if apart else []
    shown = findings_blocks(None, found.findings, None, quiet=quiet)
    return [*head, _times(found), *_throughput(found), *shown, Paragraph(""), *failed, *wrong, *notes]


def _times(found: Comparison) -> Grid:
    headings = [
        Heading("backend", "name"),
        Heading("median"),
        Heading("95% interval", drop=3),
        Heading("fastest", drop=4),
        Heading(f"/ {found.reference}"),
        Heading("95% interval"),
        Heading("", "name", drop=1),
        Heading("first run", drop=2),
        Heading("memory", drop=5),
        Heading("differs by", drop=3),
    ]
    lines = [_line(each, found.reference) for each in found.backends]
    wrong = [place for place, each in enumerate(found.backends) if each.within is False]
    return Grid("Time of a run, in turns", headings, lines, alarms=wrong)


def _line(each: BackendResult, reference: str) -> list[str]:
    return [
        each.name,
        or_dash(each.median_s, seconds),
        "-" if each.ci_s is None else f"{seconds(each.ci_s[0])} to {seconds(each.ci_s[1])}",
        or_dash(each.min_s, seconds),
        or_dash(each.ratio_to_native, "{:.2f}".format),
        "-" if each.ratio_ci is None else f"{each.ratio_ci[0]:.2f} to {each.ratio_ci[1]:.2f}",
        each.verdict(reference),
        or_dash(each.first_call_s, seconds),
        or_dash(each.memory_bytes, size),
        or_dash(each.max_abs_diff, "{:.0e}".format),
    ]


def _throughput(found: Comparison) -> list[Grid]:
    sizes = sorted({size for each in found.backends for size in each.throughput})
    if len(sizes) < 2:
        return []
    headings = [Heading("backend", "name"), *(Heading(f"batch {each}") for each in sizes)]
    lines = [
        [each.name, *(or_dash(each.throughput.get(b), "{:,.0f}".format) for b in sizes)] for each in found.backends
    ]
    return [Grid("Examples per second", headings, lines)]


def or_dash(value: Any, shown: Callable[[Any], str]) -> str:
    """A figure as it is shown; a dash for one that is not known."""
    return "-" if value is None else shown(value)


def since(found: Comparison, before: Comparison) -> list[Block]:
    """Times beside those of another comparison: of two runs, so the machine may have changed between them."""
    old = {each.name: each for each in before.backends}
    pairs = [(each, old[each.name]) for each in found.backends if each.name in old]
    lines = [
        [each.name, or_dash(each.median_s, seconds), or_dash(was.median_s, seconds), _change(each, was)]
        for each, was in pairs
    ]
    headings = [Heading("backend", "name"), Heading("now"), Heading("before"), Heading("now / before")]
    other = [
        f"{name} was {getattr(before, name)}"
        for name in ("target", "machine", "threads", "device", "dims", "versions")
        if getattr(before, name) != getattr(found, name)
    ]
    notes = [Paragraph(f"not the same as then: {', '.join(other)}", "warning")] if other else []
    return [Grid(f"Since {before.date[:10]}", headings, lines), *notes]


def _change(now: BackendResult, before: BackendResult) -> str:
    if not now.median_s or not before.median_s or now.ci_s is None or before.ci_s is None:
        return "-"
    apart = now.ci_s[0] > before.ci_s[1] or now.ci_s[1] < before.ci_s[0]
    return f"{now.median_s / before.median_s:.2f}{'' if apart else ' (intervals overlap)'}"


def _where(found: Comparison) -> str:
    on = f"{thread_count(found.threads)} on {found.machine}"
    return on if found.device == "cpu" else f"{on}, by {found.device}"

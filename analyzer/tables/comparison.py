"""A comparison as blocks: a line for each backend, and what failed."""

from __future__ import annotations

from typing import Any

from neural_cost.analyzer.comparison import BackendResult, Comparison
from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import seconds, size


def comparison_page(found: Comparison, *, quiet: bool = False) -> list[Block]:
    """All that a table shows of a comparison."""
    sizes = ", ".join(f"{name} = {value}" for name, value in found.dims.items())
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    threads = f"{found.threads} thread{'' if found.threads == 1 else 's'}"
    head = [
        Paragraph(f"{found.target}{f' at {sizes}' if sizes else ''}, {threads} on {found.machine}", "title"),
        *([] if quiet else [Paragraph(f"{found.date[:10]}; {versions}", "quiet")]),
    ]
    failed = [Paragraph(f"{each.name}: {each.error}", "warning") for each in found.backends if each.error]
    notes = [Paragraph(f"{each.name}: {note}", "quiet") for each in found.backends for note in each.notes]
    notes += [Paragraph(note, "warning") for note in found.notes]
    apart = [each.name for each in found.backends if each.within is False]
    wrong = [Paragraph(f"other results than {found.reference}: {', '.join(apart)}", "alarm")] if apart else []
    return [*head, _times(found), *_throughput(found), Paragraph(""), *failed, *wrong, *notes]


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
        _or_dash(each.median_s, seconds),
        "-" if each.ci_s is None else f"{seconds(each.ci_s[0])} to {seconds(each.ci_s[1])}",
        _or_dash(each.min_s, seconds),
        _or_dash(each.ratio_to_native, "{:.2f}".format),
        "-" if each.ratio_ci is None else f"{each.ratio_ci[0]:.2f} to {each.ratio_ci[1]:.2f}",
        each.verdict(reference),
        _or_dash(each.first_call_s, seconds),
        _or_dash(each.memory_bytes, size),
        _or_dash(each.max_abs_diff, "{:.0e}".format),
    ]


def _throughput(found: Comparison) -> list[Grid]:
    sizes = sorted({size for each in found.backends for size in each.throughput})
    if len(sizes) < 2:
        return []
    headings = [Heading("backend", "name"), *(Heading(f"batch {each}") for each in sizes)]
    lines = [
        [each.name, *(_or_dash(each.throughput.get(b), "{:,.0f}".format) for b in sizes)] for each in found.backends
    ]
    return [Grid("Examples per second", headings, lines)]


def _or_dash(value: Any, shown: Any) -> str:
    return "-" if value is None else str(shown(value))


def since(found: Comparison, before: Comparison) -> list[Block]:
    """Times beside those of another comparison: of two runs, so the machine may have changed between them."""
    old = {each.name: each for each in before.backends}
    pairs = [(each, old[each.name]) for each in found.backends if each.name in old]
    lines = [
        [each.name, _or_dash(each.median_s, seconds), _or_dash(was.median_s, seconds), _change(each, was)]
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


def families_page(rows: list[dict[str, Any]], found: list[Comparison]) -> list[Block]:
    """Families in several frameworks: the fastest native backend of each beside ONNX Runtime."""
    first = found[0]
    versions = {name: version for each in found for name, version in each.versions.items()}
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    sizes = ", ".join(f"{name} = {size}" for name, size in first.dims.items())
    threads = f"{first.threads} thread{'' if first.threads == 1 else 's'}"
    headings = [
        Heading("family", "name"),
        Heading("framework", "name"),
        Heading("fastest native", "name"),
        Heading("native"),
        Heading("ONNX Runtime"),
        Heading("/ native"),
        Heading("95% interval"),
        Heading("", "name", drop=1),
        Heading("differs by", drop=2),
    ]
    lines = [
        [
            row["family"],
            row["framework"],
            row["native"] or "-",
            _or_dash(row["native_s"], seconds),
            _or_dash(row["onnxruntime_s"], seconds),
            _or_dash(row["ratio"], "{:.2f}".format),
            "-" if row["ratio_low"] is None else f"{row['ratio_low']:.2f} to {row['ratio_high']:.2f}",
            row["verdict"],
            _or_dash(row["max_abs_diff"], "{:.0e}".format),
        ]
        for row in rows
    ]
    failed = [f"{row['family']} in {row['framework']}: {row['error']}" for row in rows if row["error"]]
    return [
        Paragraph(f"Families at {sizes}, {threads} on {first.machine}, {first.date[:10]}", "title"),
        Paragraph(told, "quiet"),
        Grid("", headings, lines),
        *(Paragraph(each, "warning") for each in failed),
    ]

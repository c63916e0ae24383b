"""Activation memory of a report as blocks: the figures, what is alive at the peak, and a chart of the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neural_cost.analyzer.tables.blocks import Block, Grid, Heading, Paragraph
from neural_cost.analyzer.tables.figures import UNKNOWN, share, size

if TYPE_CHECKING:
    from neural_cost.analyzer.memory.fits import Fits
    from neural_cost.analyzer.memory.record import Best, Memory, Moment

SHOWN_ALIVE = 8
BARS = 16  # rows of the chart: neighbours share one, which shows the largest of them
WIDTH = 32
FULL, LESS = "█", "░"


def memory(found: Memory, best: Best | None, fit: Fits | None) -> list[Block]:
    """All that a table shows of activation memory."""
    parts: list[Block] = [Paragraph(""), _figures(found, best)]
    if found.why:
        return [*parts, Paragraph(f"Activation peak unknown: {found.why}", "warning"), *fitting(fit)]
    return [*parts, *fitting(fit), *_alive(found), *_chart(found.timeline)]


def _figures(found: Memory, best: Best | None) -> Grid:
    where = f"at {found.peak_node}" if found.peak_node is not None else ""
    lines = [
        ("Activation peak", size(found.peak_bytes), where),
        ("  at least", size(found.peak_lower_bytes), "written over inputs, fused"),
        ("  at most", size(found.peak_upper_bytes), "neither, free memory kept as ONNX Runtime does"),
        ("  as planned", size(found.planned_bytes), "by ONNX Runtime's rules, nothing fused"),
        *([("  best order", size(best.peak_bytes), _saved(found, best))] if best is not None else []),
        ("  inputs", size(found.input_bytes), "held, part of the peak"),
        ("  outputs", size(found.output_bytes), "held once made"),
        *([("  cache", size(found.cache_bytes), "keys and values, part of these")] if found.cache_bytes else []),
        ("Weights", size(found.weight_bytes), "beside the peak"),
        ("Workspace", UNKNOWN, "what kernels need for themselves: no graph tells"),
    ]
    headings = [Heading("Memory", "name"), Heading(""), Heading("", "remark")]
    return Grid("", headings, lines, headed=False)


def _saved(found: Memory, best: Best) -> str:
    if best.peak_bytes is None or not found.peak_bytes:
        return best.why
    return f"{share(found.peak_bytes - best.peak_bytes, found.peak_bytes)} less, found by a beam search"


def fitting(fit: Fits | None) -> list[Paragraph]:
    """Whether a device has the memory."""
    if fit is None:
        return []
    if fit.fits is None:
        return [Paragraph(f"Fits {fit.device}: unknown, {fit.why}")]
    answer = "yes" if fit.fits else "no"
    text = f"Fits {fit.device}: {answer}, {size(fit.needed_bytes)} of {size(fit.memory_bytes)} without workspace"
    if fit.largest is not None:
        text += f"; the largest {fit.dim} that fits is {fit.largest:,}"
    elif fit.why:
        text += f"; {fit.why}"
    return [Paragraph(text, "plain" if fit.fits else "warning")]


def _alive(found: Memory) -> list[Block]:
    shown = found.alive[:SHOWN_ALIVE]
    of = "" if len(shown) == len(found.alive) else f", {len(shown)} of {len(found.alive)}"
    lines = [(each.name, size(each.bytes), share(each.bytes, found.peak_bytes)) for each in shown]
    headings = [Heading("tensor", "name"), Heading("bytes"), Heading("of peak")]
    return [Grid(f"Alive at the peak{of}", headings, lines)] if lines else []


def _chart(timeline: Sequence[Moment]) -> list[Block]:
    """A bar for each stretch of nodes: at least in full, then what is plainly alive."""
    if not timeline:
        return []
    most = max(moment.bytes for moment in timeline) or 1
    step = -(-len(timeline) // BARS)
    tops = [max(timeline[at : at + step], key=lambda each: each.bytes) for at in range(0, len(timeline), step)]
    lines = [(moment.node, size(moment.bytes), _bar(moment, most)) for moment in tops]
    title = f"Bytes alive, {'a row for each node' if step == 1 else f'the most of each {step} nodes'}"
    headings = [Heading("node", "name"), Heading("bytes"), Heading(f"{FULL} at least, {LESS} plainly", "remark")]
    return [Grid(title, headings, lines)]


def _bar(moment: Moment, most: int) -> str:
    full, all_ = (round(WIDTH * part / most) for part in (min(moment.lower_bytes, moment.bytes), moment.bytes))
    return FULL * full + LESS * (all_ - full)

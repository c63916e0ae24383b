"""Findings as blocks: what may be saved, what was seen, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.tables.blocks import Block, Paragraph
from neural_cost.analyzer.tables.figures import seconds, share

if TYPE_CHECKING:
    from neural_cost.analyzer.report import Report

SHOWN = 5
SHOWN_NODES = 3


def findings_blocks(
    report: Report | None, findings: Sequence[Finding], whole_s: float | None, *, top: int = SHOWN, quiet: bool = False
) -> list[Block]:
    """The findings that may save most; nothing where there is none. `quiet` leaves the advice out.

    Without a report they are of no nodes.
    """
    if not findings:
        return []
    shown = findings[:top]
    of = "" if len(shown) == len(findings) else f", {len(shown)} of {len(findings)}"
    predicted = "; predicted from the graph, nothing ran" if findings[0].predicted else ""
    blocks: list[Block] = [Paragraph(""), Paragraph(f"Findings{of}{predicted}", "title")]
    for finding in shown:
        blocks.append(Paragraph(f"{finding.id}: {finding.evidence}{_saves(finding, whole_s)}"))
        if not quiet:
            blocks += [Paragraph(f"  {finding.advice}", "quiet"), *_nodes(report, finding)]
    return blocks


def _saves(finding: Finding, whole_s: float | None) -> str:
    saves = finding.saves_at_most_s
    if saves is None:
        return ""
    if not saves:
        return "; a run is no faster without them"
    part = share(saves, whole_s) if whole_s else ""
    if finding.predicted:
        return f"; worth {seconds(saves)}" + (f" ({part} of the bound)" if part else "")
    return f"; saves {seconds(saves)} at most" + (f" ({part})" if part else "")


def _nodes(report: Report | None, finding: Finding) -> list[Block]:
    if report is None or not finding.nodes:
        return []
    names = ", ".join(report.nodes[place].label for place in finding.nodes[:SHOWN_NODES])
    more = len(finding.nodes) - SHOWN_NODES
    return [Paragraph(f"  nodes: {names}{f' and {more:,} more' if more > 0 else ''}", "quiet")]

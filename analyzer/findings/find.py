"""All findings of a report, or of a run, the one that may save most first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from neural_cost.analyzer.findings import (
    attention,
    batch,
    dispatch,
    elementwise,
    faster_type,
    folding,
    layout,
    loops,
    operators,
    threads,
    weights,
)
from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.gap.record import Gap
from neural_cost.analyzer.measurement import Kernel, Measurement
from neural_cost.analyzer.report import Report

Finder: TypeAlias = Callable[[Subject], Iterator[Finding]]

FINDERS: Sequence[Finder] = (
    layout.inserted,
    layout.transposes,
    layout.casts,
    elementwise.chains,
    folding.foldable,
    folding.foldable_normalization,
    faster_type.faster_type,
    batch.small_batch,
    dispatch.tiny_nodes,
    dispatch.shape_arithmetic,
    operators.grouped_convolutions,
    operators.gathers,
    operators.quantize_pairs,
    attention.unfused_attention,
    loops.recurrent_loops,
    weights.duplicate_weights,
    weights.unused_weights,
    threads.threads,
)


def find(
    report: Report,
    gap: Gap | None = None,
    kernels: Sequence[Kernel] = (),
    measurement: Measurement | None = None,
) -> list[Finding]:
    """What makes a model slow, the finding that may save most first; those of unknown saving come last.

    Without a run (`gap`, `kernels`, `measurement`) they are predicted from the graph.
    """
    subject = Subject(report, gap, kernels, measurement)
    found = [finding for finder in FINDERS for finding in finder(subject)]
    return sorted(found, key=lambda finding: (finding.saves_at_most_s is None, -(finding.saves_at_most_s or 0.0)))

"""Threads: fewer than there are cores, or more."""

from __future__ import annotations

from collections.abc import Iterator

from neural_cost.analyzer.findings.record import Finding
from neural_cost.analyzer.findings.subject import Subject
from neural_cost.analyzer.tables.figures import seconds

SHORT_S = 1e-3  # a run that is shorter gains little from threads


def threads(subject: Subject) -> Iterator[Finding]:
    """A run with another number of threads than the cores that it may use."""
    run = subject.measurement
    if run is None or run.threads is None or run.cores is None or "CPU" not in run.provider:
        return
    if run.threads < run.cores and run.median_s > SHORT_S:
        yield subject.finding(
            "few-threads",
            (),
            f"it ran on {run.threads} of {run.cores} cores, for {seconds(run.median_s)}",
            run.median_s * (1 - run.threads / run.cores),
            f"--threads {run.cores}, unless other work needs the cores: perfect sharing would save this much",
        )
    if run.threads > run.cores:
        yield subject.finding(
            "many-threads",
            (),
            f"{run.threads} threads share {run.cores} cores: they wait for each other at the end of every operator",
            None,
            f"--threads {run.cores}, or fewer",
        )

"""Pieces of control flow: kind "Loop" has iterations as its size; the nodes of its body are kernels of their own."""

from __future__ import annotations

from collections.abc import Iterator

from neural_cost.analyzer.node import Unknown
from neural_cost.analyzer.prediction.piece import Job, Piece


def loop(job: Job) -> Iterator[Piece]:
    """A Loop or Scan: what each iteration costs besides its kernels."""
    owner = job.graph.nodes[job.group.anchor]
    body = f"{owner.graph}/{owner.node.name}/"
    runs = [
        node.repeats for node in job.graph.nodes if node.graph.startswith(body) and "/" not in node.graph[len(body) :]
    ]
    if None in runs or not owner.repeats:
        raise Unknown("it is not known how often its body runs")
    yield Piece("Loop", (max((int(count or 0) for count in runs), default=0) / int(owner.repeats),))


def branch(_: Job) -> Iterator[Piece]:
    """An If: the choice alone."""
    yield Piece("If", (1,))

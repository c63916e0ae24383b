"""ONNX Runtime's profile: which kernels ran, how often and how long, and how much memory was asked for."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

Event: TypeAlias = "dict[str, Any]"

SUFFIX = "_kernel_time"
MICROSECOND = 1e-6


@dataclass(frozen=True, slots=True)
class Executed:
    """A kernel that ran: seconds and executions are those of one run, the median over runs.

    `seconds` leaves out the kernels of its bodies, which are there themselves.
    """

    name: str
    op_type: str
    provider: str
    seconds: float
    executions: int


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profile tells.

    Attributes:
        kernels: in the order in which they first ran.
        run_s: median seconds of a run, the profiling itself in it.
        kernels_s: median over runs of the seconds of all kernels.
        peak_bytes: the most that was asked for in the first run, weights apart.
        events: those of the last run.
    """

    kernels: Sequence[Executed]
    run_s: float
    kernels_s: float
    peak_bytes: int | None
    events: Sequence[Event]


def read_profile(file: Path, warmup: int) -> Profile:
    """Read a profile of several runs; the first ones tell of memory alone."""
    events = json.loads(file.read_text(encoding="utf-8"))
    runs = list(_runs(events))
    counted = runs[warmup:]
    seconds = [_own_seconds(run) for _, run in counted]
    names = list(dict.fromkeys(event["name"] for _, run in counted for event in run))
    first = {event["name"]: event["args"] for _, run in counted for event in run}
    kernels = [
        Executed(
            name.removesuffix(SUFFIX),
            first[name].get("op_name", ""),
            first[name].get("provider", ""),
            median(sum(own.get(name, ())) for own in seconds),
            round(median(len(own.get(name, ())) for own in seconds)),
        )
        for name in names
    ]
    return Profile(
        kernels,
        median(whole["dur"] for whole, _ in counted) * MICROSECOND,
        median(sum(map(sum, own.values())) for own in seconds),
        requested_peak(runs[0][1]) if runs else None,
        counted[-1][1],
    )


def requested_peak(nodes: Iterable[Event]) -> int | None:
    """The most bytes requested at the end of a kernel, less those before the first; None where it is not told.

    What kernels need for themselves is freed before their event is written, so it is not in it.
    """
    told = [event["args"] for event in nodes if "mem_bytes_requested_in_use" in event.get("args", {})]
    if not told:
        return None
    requested = [int(each["mem_bytes_requested_in_use"]) for each in told]
    return max(requested) - (requested[0] - int(told[0]["mem_requested_in_use_delta"]))


def _runs(events: Sequence[Event]) -> Iterator[tuple[Event, list[Event]]]:
    """Each run with its kernels, by the time at which they start."""
    wholes = sorted((e for e in events if e.get("name") == "model_run"), key=lambda event: event["ts"])
    nodes = sorted((e for e in events if e.get("cat") == "Node" and e["name"].endswith(SUFFIX)), key=lambda e: e["ts"])
    place = 0
    for whole in wholes:
        end = whole["ts"] + whole["dur"]
        while place < len(nodes) and nodes[place]["ts"] < whole["ts"]:
            place += 1
        start = place
        while place < len(nodes) and nodes[place]["ts"] <= end:
            place += 1
        yield whole, nodes[start:place]


def _own_seconds(run: Sequence[Event]) -> dict[str, list[float]]:
    """Seconds of each execution by kernel, without what ran inside it on its thread."""
    own: dict[str, list[float]] = defaultdict(list)
    open_: list[tuple[float, str, int]] = []  # end, name and place of what is around
    for event in sorted(run, key=lambda each: (each["ts"], -each["dur"])):
        while open_ and event["ts"] >= open_[-1][0]:
            open_.pop()
        seconds = event["dur"] * MICROSECOND
        if open_ and event["ts"] + event["dur"] <= open_[-1][0]:
            _, name, place = open_[-1]
            own[name][place] = max(0.0, own[name][place] - seconds)
        own[event["name"]].append(seconds)
        open_.append((event["ts"] + event["dur"], event["name"], len(own[event["name"]]) - 1))
    return own

"""Measurement: what a run of a model took, as a whole and kernel by kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from neural_cost.analyzer.record import Record
from neural_cost.analyzer.roofline import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement(Record):
    """How long a model took as a whole.

    Attributes:
        backend: "onnxruntime", and `version`.
        provider: what it ran on.
        threads: of one operator; None where the backend chose.
        cores: that the process may use; None where that is not known.
        level: how far the graph was rewritten: "disable", "basic", "extended" or "all".
        median_s, min_s, ci_s: seconds of a run, without a profile; the interval is the 95 % one of the median.
        samples: runs that were timed.
        stopped_by: why sampling stopped; see `Timing`.
        profiled_s: median seconds of a run with a profile.
        kernels_s: seconds of all its kernels.
        peak_bytes: the most that the runtime had asked for in its first run, weights apart; None if not told.
        session_s: seconds that it took to load the model.
        notes: what makes the figures doubtful.
    """

    backend: str
    version: str
    provider: str
    threads: int | None
    cores: int | None = None
    level: str
    median_s: float
    min_s: float
    ci_s: tuple[float, float]
    samples: int
    stopped_by: str
    profiled_s: float
    kernels_s: float
    peak_bytes: int | None
    session_s: float
    notes: tuple[str, ...] = ()

    @property
    def profiling_overhead(self) -> float:
        """What a profile adds, as a part of the time without one."""
        return self.profiled_s / self.median_s - 1

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        lists = {"ci_s": list(self.ci_s), "notes": list(self.notes)}
        return asdict(self) | lists | {"profiling_overhead": self.profiling_overhead}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel(Record):
    """A kernel that ran, and what of the file it did.

    Attributes:
        name, op_type, domain: as the runtime calls it after its rewrites.
        graph: "main", or the path of the body that it belongs to.
        provider: what it ran on.
        seconds: of all its executions in one run, the median over runs; nodes of its bodies are not in it.
        executions: in one run.
        source_nodes: places in the report's list of nodes; each node belongs to one kernel.
        repeated: those of them that another of them makes: the kernel computes both at once.
        joined: it has no node of its own, as it does a part of what the kernel does that has the same nodes.
        helped: joined ones do a part of what it does, so its own time is not that of its work.
        inserted: the file does not ask for it: it moves data or converts its type.
        serves: of an inserted one, places of the nodes on whose behalf it runs, which are all of one kernel: of the
            one that makes what it moves, or else of the first that reads the result. Empty where neither is known.
        macs: of its nodes in one run of the model; None where one is not known.
        work: of one execution; None where it is not known. What a kernel computes once is counted once here.
        bound_s: seconds of all executions that the device cannot beat; None where there is no figure.
    """

    name: str
    op_type: str
    domain: str
    graph: str
    provider: str
    seconds: float
    executions: int
    source_nodes: tuple[int, ...]
    repeated: tuple[int, ...]
    joined: bool
    helped: bool = False
    inserted: bool
    serves: tuple[int, ...] = ()
    macs: int | None
    work: Work | None
    bound_s: float | None

    @property
    def operator(self) -> str:
        """The operator with its domain, unless that is the standard's."""
        return f"{self.domain}::{self.op_type}" if self.domain else self.op_type

    @property
    def mapped(self) -> bool:
        """Whether it is known which nodes it does."""
        return bool(self.source_nodes)

    @property
    def flops(self) -> int | None:
        """FLOPs of all executions."""
        return None if self.work is None else self.work.flops * self.executions

    @property
    def bytes(self) -> int | None:
        """Bytes that all executions must move."""
        return None if self.work is None else self.work.bytes_moved * self.executions

    @property
    def flops_per_s(self) -> float | None:
        """FLOP/s that it reached; None where others help it."""
        return None if self.helped else _rate(self.flops, self.seconds)

    @property
    def bytes_per_s(self) -> float | None:
        """Bytes/s that it reached, of those that it must move; None where others help it."""
        return None if self.helped else _rate(self.bytes, self.seconds)

    @property
    def efficiency(self) -> float | None:
        """Bound / measured; above 1 the bound is wrong. None where one of the two is not known, or others help it."""
        return None if self.helped else _rate(self.bound_s, self.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = (
            "name", "op_type", "domain", "graph", "provider", "seconds", "executions", "joined", "inserted", "macs",
            "flops", "bytes", "flops_per_s", "bytes_per_s", "bound_s", "efficiency",
        )  # fmt: skip
        lists = {name: list(getattr(self, name)) for name in ("source_nodes", "repeated", "serves")}
        return {name: getattr(self, name) for name in names} | lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping(Record):
    """How much of a run is known to be which nodes of the file.

    Attributes:
        time_share: of kernel time, what does nodes of the file.
        inserted_share: of kernel time, what the runtime inserted: reorders, casts and copies.
        unmapped_share: of kernel time, what nothing is known of.
        attributed_share: of kernel time, what is laid to nodes of the file, each second to those of one kernel: what
            does them, and what is inserted of which it is known whom it serves.
        mac_share: of the file's MACs, what is in kernels that ran; None where the file's MACs are not known.
    """

    time_share: float | None
    inserted_share: float | None
    unmapped_share: float | None
    attributed_share: float | None
    mac_share: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def mapping(kernels: Sequence[Kernel], macs: int | None) -> Mapping:
    """What is mapped of these kernels; `macs` are the file's, None where they are not known."""
    whole = sum(kernel.seconds for kernel in kernels)
    found = sum(kernel.macs or 0 for kernel in kernels)
    return Mapping(
        time_share=_rate(sum(kernel.seconds for kernel in kernels if kernel.mapped), whole),
        inserted_share=_rate(sum(kernel.seconds for kernel in kernels if kernel.inserted), whole),
        unmapped_share=_rate(sum(each.seconds for each in kernels if not each.mapped and not each.inserted), whole),
        attributed_share=_rate(sum(kernel.seconds for kernel in kernels if kernel.mapped or kernel.serves), whole),
        mac_share=None if macs is None else found / macs if macs else 1.0,
    )


def _rate(part: float | None, whole: float) -> float | None:
    return None if part is None or whole <= 0 else part / whole

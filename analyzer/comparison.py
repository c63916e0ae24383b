"""Comparison: backends beside each other, each against the model's own framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from neural_cost.analyzer.intervals import median_interval
from neural_cost.analyzer.record import Record

if TYPE_CHECKING:
    import pandas as pd

    from neural_cost.analyzer.findings.record import Finding

Verdict: TypeAlias = Literal["reference", "faster", "slower", "no difference shown", "failed", "not measured"]
MARGIN = 0.05  # two processes of one backend differ by up to 3 % for as long as they live: no verdict on less
SCHEMA_VERSION = 1  # of the JSON: `comparison.schema.json` of the package
COLUMNS = (
    "name", "median_s", "min_s", "ratio_to_native", "ratio_low", "ratio_high", "verdict", "first_call_s", "prepare_s",
    "memory_bytes", "max_abs_diff", "max_rel_diff", "within", "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendResult(Record):
    """One backend.

    Attributes:
        name, framework: as the backend calls itself.
        error: why it has no figures, or why they end; None where all went well.
        median_s, min_s, ci_s: seconds of a run; the interval is the 95 % one of the median.
        ratio_to_native: median over rounds of its time over that of the reference, in the same round.
        ratio_ci: the 95 % interval of that.
        prepare_s: seconds to load the model, without what the first run does.
        first_call_s: seconds of the first run, which may compile.
        memory_bytes: the most that its process had in memory, its framework among it.
        max_abs_diff, max_rel_diff: from the reference's results; None where the two were not compared.
        within: whether all results are as near as their types allow.
        throughput: examples per second by batch size.
        samples: seconds of a run, round by round.
        cpu_share: CPU seconds of all its threads for each second of the samples.
        notes: what a user should know of how it ran.
    """

    name: str
    framework: str
    error: str | None = None
    median_s: float | None = None
    min_s: float | None = None
    ci_s: tuple[float, float] | None = None
    ratio_to_native: float | None = None
    ratio_ci: tuple[float, float] | None = None
    prepare_s: float | None = None
    first_call_s: float | None = None
    memory_bytes: int | None = None
    max_abs_diff: float | None = None
    max_rel_diff: float | None = None
    within: bool | None = None
    throughput: Mapping[int, float]
    samples: Sequence[Sequence[float]]
    cpu_share: float | None = None
    notes: tuple[str, ...] = ()

    def verdict(self, reference: str) -> Verdict:
        """Faster or slower than the reference, where the whole interval of their ratio is, by more than `MARGIN`."""
        if self.name == reference:
            return "reference"
        if self.median_s is None and self.error is None:
            return "not measured"  # Ctrl-C came first
        return verdict_of(self.ratio_ci)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        pairs = {name: None if (pair := getattr(self, name)) is None else list(pair) for name in ("ci_s", "ratio_ci")}
        plain = {"throughput": {str(size): rate for size, rate in self.throughput.items()}}
        lists = {"samples": [list(each) for each in self.samples], "notes": list(self.notes)}
        return asdict(self) | pairs | plain | lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Record):
    """Backends of one model, timed in turns on one machine.

    Attributes:
        target: what was compared.
        reference: the backend that the others are measured against.
        threads, device: that each had.
        dims: sizes of the inputs.
        machine: its CPU; `date` when, in UTC.
        versions: of the packages that ran.
        notes: what makes the figures doubtful.
        backends: the results.
        interrupted: Ctrl-C ended it; what was measured until then is here.
    """

    target: str
    reference: str
    threads: int
    device: str
    dims: Mapping[str, int]
    machine: str
    date: str
    versions: Mapping[str, str]
    notes: tuple[str, ...] = ()
    backends: list[BackendResult]
    interrupted: bool = False

    @property
    def findings(self) -> list[Finding]:
        """What the times show: a native backend that is faster than ONNX Runtime."""
        from neural_cost.analyzer.findings.backends import faster_backend

        return list(faster_backend(self))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each backend."""
        return [_row(each, self.reference) for each in self.backends]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, from which `from_dict` makes it again."""
        names = ("target", "reference", "threads", "device", "machine", "date", "interrupted")
        plain = {name: getattr(self, name) for name in names}
        maps = {"dims": dict(self.dims), "versions": dict(self.versions), "notes": list(self.notes)}
        found = {"findings": [each.to_dict() for each in self.findings]}
        backends = {"backends": [each.to_dict() for each in self.backends]}
        return {"schema_version": SCHEMA_VERSION} | plain | maps | backends | found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Comparison:
        """Read what `to_dict` wrote.

        Raises:
            KeyError, TypeError, ValueError: it is no comparison.
        """
        if (version := data.get("schema_version", SCHEMA_VERSION)) != SCHEMA_VERSION:
            raise ValueError(f"it is of version {version}, and {SCHEMA_VERSION} is wanted")
        results = [BackendResult(**_read(each)) for each in data["backends"]]
        fields = {name: value for name, value in data.items() if name not in ("schema_version", "findings")}
        return cls(**{**fields, "backends": results, "notes": tuple(data["notes"])})

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each backend, in pandas, which must be installed."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(COLUMNS))

    def __str__(self) -> str:
        """The table that the command shows."""
        from neural_cost.analyzer.tables.comparison import comparison_page
        from neural_cost.analyzer.tables.text import to_text

        return to_text(comparison_page(self))

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        from neural_cost.analyzer.tables.comparison import comparison_page
        from neural_cost.analyzer.tables.html import to_html

        return to_html(comparison_page(self))


def verdict_of(interval: tuple[float, float] | None) -> Verdict:
    """What the interval of a ratio shows: rounds average out what disturbs, but not that one process lies better."""
    if interval is None:
        return "failed"
    low, high = interval
    return "faster" if high < 1 - MARGIN else "slower" if low > 1 + MARGIN else "no difference shown"


def ratios(rounds: Sequence[Sequence[float]], reference: Sequence[Sequence[float]]) -> list[float]:
    """Time over the reference's in the same round, for each round in which both ran."""
    pairs = zip(rounds, reference, strict=False)
    return [median(own) / median(other) for own, other in pairs if own and other and median(other) > 0]


def _row(result: BackendResult, reference: str) -> dict[str, Any]:
    low, high = result.ratio_ci or (None, None)
    own = {"ratio_low": low, "ratio_high": high, "verdict": result.verdict(reference)}
    return {name: own[name] if name in own else getattr(result, name) for name in COLUMNS}


def _read(data: Mapping[str, Any]) -> dict[str, Any]:
    pairs = {name: None if data[name] is None else tuple(data[name]) for name in ("ci_s", "ratio_ci")}
    throughput = {int(size): rate for size, rate in data["throughput"].items()}
    return {**data, **pairs, "throughput": throughput, "notes": tuple(data.get("notes", ()))}


def best_native(found: Comparison, other: str) -> dict[str, Any]:
    """The fastest backend of the framework beside another one, whose time is given over its, round by round."""
    theirs = next((each for each in found.backends if each.name == other), None)
    native = [each for each in found.backends if each.name != other and each.median_s is not None]
    best = min(native, key=lambda each: each.median_s or 0.0, default=None)
    paired = [] if best is None or theirs is None else ratios(theirs.samples, best.samples)
    interval = median_interval(paired) if paired else None
    low, high = interval or (None, None)
    return {
        "native": None if best is None else best.name,
        "native_s": None if best is None else best.median_s,
        "onnxruntime_s": None if theirs is None else theirs.median_s,
        "ratio": median(paired) if paired else None,
        "ratio_low": low,
        "ratio_high": high,
        "verdict": verdict_of(interval),
        "max_abs_diff": None if theirs is None else theirs.max_abs_diff,
        "error": "; ".join(f"{each.name}: {each.error}" for each in found.backends if each.error) or None,
    }

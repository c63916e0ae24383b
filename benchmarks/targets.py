"""What was promised of speed and memory, held against what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.measure import COMMAND, Row
from benchmarks.subjects import BERT, BERT_BARE, CHAINS, DECODER, DECODER_BARE, LLAMA, RESNET, chain_name

OURS = "neural-cost"
BASELINE = "onnx_ir + onnx-shape-inference"

RESNET_WARM_S = 0.12
COLD_START_S = 1.3
OVER_BASELINE = 2.0
LINEAR = 1.3  # seconds a node on the longest chain over the shortest above 1k: 1 is linear, the rest is noise
WEIGHTS_S = 0.15  # more with the weights than without
WEIGHTS_MB = 150.0  # in all
CHAIN_S = {10_000: 1.5, 100_000: 15.0}


@dataclass(frozen=True)
class Target:
    """What was promised, and what is."""

    name: str
    limit: float
    value: float | None

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        return "met" if self.value <= self.limit else "missed"


def targets(rows: Sequence[Row], cold: Mapping[str, Sequence[float]]) -> list[Target]:
    """Hold what was measured against what was promised."""
    best = {(row.model, row.tool): row.best for row in rows}
    ours = {model: seconds for (model, tool), seconds in best.items() if tool == OURS and seconds}
    peaks = {row.model: row.peak_bytes / 1e6 for row in rows if row.tool == OURS and row.best}
    fixed = [model for model in ours if model != LLAMA]  # open dimensions are inferred twice: as symbols and as numbers
    ratios = [ours[model] / base for model in fixed if (base := best[model, BASELINE])]
    return [
        Target("resnet50, warm, s", RESNET_WARM_S, ours.get(RESNET)),
        Target("resnet50, whole command from a cold start, s", COLD_START_S, min(cold[COMMAND], default=None)),
        Target("largest ratio to loading plus inference alone, sizes fixed", OVER_BASELINE, max(ratios, default=None)),
        Target("growth: time a node, longest chain / 10k", LINEAR, _growth(ours)),
        *(Target(f"{chain_name(nodes)}, s", limit, ours.get(chain_name(nodes))) for nodes, limit in CHAIN_S.items()),
        *_of_weights(BERT, BERT_BARE, ours, peaks),
        *_of_weights(DECODER, DECODER_BARE, ours, peaks),
    ]


def _of_weights(model: str, bare: str, ours: Mapping[str, float], peaks: Mapping[str, float]) -> list[Target]:
    more = ours[model] - ours[bare] if model in ours and bare in ours else None
    return [
        Target(f"{model}: s more than without", WEIGHTS_S, more),
        Target(f"{model}: peak MB", WEIGHTS_MB, peaks.get(model)),
    ]


def _growth(ours: dict[str, float]) -> float | None:
    a_node = [ours[name] / nodes for nodes in CHAINS if nodes >= 10_000 and (name := chain_name(nodes)) in ours]
    return a_node[-1] / a_node[0] if len(a_node) > 1 else None

"""Operators whose work is not in the graph: each is refused, with the reason that a user is told."""

from __future__ import annotations

from neural_cost.analyzer.cost import Cost
from neural_cost.analyzer.node import Node, Unknown
from neural_cost.analyzer.rules.registry import CostRule, cost

TEXT = "the work on strings follows their lengths, which are data"
DECODING = "the number of decoding steps is data"
COMPILED = "the work is in a blob that another compiler made"

REASONS = {
    ("", "ImageDecoder"): "the work of decoding follows the encoded image",
    ("", "RegexFullMatch"): TEXT,
    ("", "StringConcat"): TEXT,
    ("", "StringNormalizer"): TEXT,
    ("", "StringSplit"): TEXT,
    ("ai.onnx.preview.training", "Gradient"): "the gradient's own graph is not in the file",
    ("com.microsoft", "BeamSearch"): DECODING,
    ("com.microsoft", "BifurcationDetector"): "how far the tokens agree is data",
    ("com.microsoft", "EPContext"): COMPILED,
    ("com.microsoft", "GreedySearch"): DECODING,
    ("com.microsoft", "Sampling"): DECODING,
    ("com.microsoft", "Snpe"): COMPILED,
    ("com.microsoft", "SpeculativePrefixCommit"): "it writes through pointers to memory outside of the graph",
    ("com.microsoft", "Tokenizer"): TEXT,
    ("com.microsoft", "WhisperBeamSearch"): DECODING,
}


def _refusal(reason: str) -> CostRule:
    def rule(node: Node) -> Cost:
        raise Unknown(reason)

    return rule


for (_domain, _op_type), _reason in REASONS.items():
    cost(_op_type, domain=_domain)(_refusal(_reason))

"""Each operator with a cost rule has a backward rule, or a reason why it has no derivative, or is known to lack it."""

from __future__ import annotations

import onnx.defs
import pytest

from neural_cost.analyzer.rules.registry import registered as costed
from neural_cost.analyzer.training.registry import passes, registered, rounds, rule_of, why_none

Operator = tuple[str, str]

BODIES = {("", "If"), ("", "Loop"), ("", "Scan"), ("", "SequenceMap")}  # the nodes in their bodies go back one by one

MS, ML, TRAINING = "com.microsoft", "ai.onnx.ml", "ai.onnx.preview.training"

# Operators that have a derivative, and no rule yet: listed as uncounted where a gradient has to pass. None is added.
MISSING: dict[str, set[Operator]] = {
    "classic models, whose weights are attributes, and what prepares their features": {
        (ML, name) for name in (
            "ArrayFeatureExtractor", "FeatureVectorizer", "Imputer", "LinearClassifier", "LinearRegressor",
            "Normalizer", "SVMClassifier", "SVMRegressor", "Scaler",
        )
    },
    "steps of training, not of a model": {(TRAINING, "Adagrad"), (TRAINING, "Adam"), (TRAINING, "Momentum")},
    "work that is not in the graph": {(TRAINING, "Gradient"), (MS, "EPContext"), (MS, "Snpe")},
    "bodies that change the scores inside": {("ai.onnx.preview", "FlexAttention")},
    "one token, or a cache in pages, in decoding": {
        (MS, name) for name in (
            "DecoderAttention", "DecoderMaskedMultiHeadAttention", "DecoderMaskedSelfAttention", "NGramRepeatBlock",
            "PagedAttention", "SparsePagedAttention", "ConvStateReplay", "GatedDeltaNetStateReplay", "Mamba2Verify",
            "VarlenCausalConvWithState",
        )
    },
    "which scores there are is data, or a pattern of blocks": {
        (MS, name) for name in (
            "DynamicSparseAttention", "LongformerAttention", "PackedSparseAttentionIndexer",
            "PackedSparseAttentionIndexerMerge", "SparseAttention", "SparseAttentionIndexer", "SparseToDenseMatMul",
        )
    },
    "of several steps, which nobody has worked out": {
        (MS, name) for name in (
            "AttnLSTM", "EngramGate", "GatedDeltaNet", "GatedRMSNorm", "GatedRelativePositionBias",
            "HyperConnectionLowRankMix", "HyperConnectionPostMix", "HyperConnectionPreMix", "LinearAttentionGate",
            "MatMulNBitsMlp", "MatMulNBitsQLoRA", "MatMulNBitsQkv", "MoEGroupRouter", "MoEPacked", "RMSNormRotary",
            "RelativePositionBias", "RouterGateUpProj", "WordConvEmbedding",
        )
    },
}  # fmt: skip


def operators() -> set[Operator]:
    """All that have a cost rule, and all of ONNX."""
    onnx_own = {(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas() if schema.domain == ""}
    return {(rule.domain, rule.op_type) for rule in costed() if rule.kind != "custom"} | onnx_own  # no test's own


def said(operator: Operator) -> str:
    """What is said of an operator."""
    if rule_of(*operator) is not None:
        return "has a backward rule"
    if not passes(*operator) or rounds(*operator):
        return f"has no derivative: {why_none(*operator)}"
    return "the nodes of its bodies have" if operator in BODIES else "missing"


def test_the_lists_are_whole():
    assert len(operators()) > 380
    assert {domain for domain, _ in operators()} > {"", MS, ML, "com.microsoft.nchwc", "com.ms.internal.nhwc"}


def test_missing_rules_are_known_and_no_others():
    known = set[Operator]().union(*MISSING.values())
    assert {operator for operator in operators() if said(operator) == "missing"} == known
    assert len(known) == sum(map(len, MISSING.values())) <= 51


def test_none_of_onnx_itself_is_missing():
    assert {name for domain, name in operators() if domain == "" and said(("", name)) == "missing"} == set()


@pytest.mark.parametrize(
    ("operator", "why"),
    [(("", "Floor"), "jumps"), (("", "ArgMax"), "integers"), (("", "QuantizeLinear"), "rounds"),
     ((MS, "GemmFloat8"), "rounds"), ((MS, "BeamSearch"), "tokens")],
)  # fmt: skip
def test_what_has_no_derivative_has_a_reason(operator, why):
    assert why in said(operator)


def test_all_that_has_no_derivative_has_a_reason_of_its_own():
    without = [operator for operator in operators() if said(operator).startswith("has no derivative")]
    assert len(without) > 100
    assert [operator for operator in without if "no backward rule" in why_none(*operator)] == []


def test_what_is_missing_says_so():
    assert why_none(MS, "AttnLSTM") == "there is no backward rule for com.microsoft::AttnLSTM"


def test_a_rule_is_for_an_operator_that_has_a_cost():
    assert {operator for operator in set(registered()) - operators() if operator[0] != "acme"} == set()

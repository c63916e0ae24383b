"""The half of causal attention that is needed: pairs of a query and a key that its mask leaves, by hand."""

from dataclasses import replace

import pytest

from neural_cost.analyzer.rules.registry import lookup
from tests.analyzer.rules.make import node, tensor

# batch 2, 4 heads of 8; each pair of a query and a key is 8 MACs for its score and 8 for its value
PER_PAIR = 2 * 4 * (8 + 8)
CASES = {
    "3 queries, no past: 1 + 2 + 3": (
        node("Attention", [(2, 4, 3, 8)] * 3, [(2, 4, 3, 8)], is_causal=1, version=23),
        6 * PER_PAIR,
        9 * PER_PAIR,
    ),
    "2 queries after 3: 4 + 5": (
        node("Attention", [(2, 4, 2, 8), (2, 4, 2, 8), (2, 4, 2, 8), None, (2, 4, 3, 8), (2, 4, 3, 8)],
             [(2, 4, 2, 8), (2, 4, 5, 8), (2, 4, 5, 8)], is_causal=1, version=23),
        9 * PER_PAIR,
        10 * PER_PAIR,
    ),
    "4 queries, 2 keys, aligned at the first: 1 + 2 + 2 + 2": (
        node("Attention", [(2, 4, 4, 8), (2, 4, 2, 8), (2, 4, 2, 8)], [(2, 4, 4, 8)], is_causal=1, version=23),
        7 * PER_PAIR,
        8 * PER_PAIR,
    ),
    "not causal": (
        node("Attention", [(2, 4, 3, 8)] * 3, [(2, 4, 3, 8)], version=23),
        9 * PER_PAIR,
        9 * PER_PAIR,
    ),
    "MultiHeadAttention": (
        node("MultiHeadAttention", [(2, 3, 32)] * 3, [(2, 3, 32)], domain="com.microsoft", version=1, num_heads=4,
             unidirectional=1),
        6 * PER_PAIR,
        9 * PER_PAIR,
    ),
    "GroupQueryAttention after 3": (
        node("GroupQueryAttention",
             [(2, 2, 32), (2, 2, 16), (2, 2, 16), (2, 2, 3, 8), (2, 2, 3, 8), ((2,), "int32"), ((), "int32")],
             [(2, 2, 32), (2, 2, 5, 8), (2, 2, 5, 8)], domain="com.microsoft", version=1, num_heads=4, kv_num_heads=2),
        9 * PER_PAIR,
        10 * PER_PAIR,
    ),
    "PagedAttention, sequences of 2 after 3 and 1 after 4": (
        node("PagedAttention",
             [(3, 32), (3, 16), (3, 16), (9, 4, 2, 8), (9, 4, 2, 8), tensor("bounds", (3,), "int32", [0, 2, 3]),
              tensor("past", (2,), "int32", [3, 4])],
             [(3, 32)], domain="com.microsoft", version=1, num_heads=4, kv_num_heads=2),
        (4 + 5 + 5) * 4 * (8 + 8),
        (5 + 5 + 5) * 4 * (8 + 8),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("made", "half", "full"), CASES.values(), ids=CASES)
def test_the_pairs_that_the_mask_leaves(made, half, full):
    rule = lookup(made.domain, made.op_type, made.version)
    assert rule.function(made).macs == full
    assert rule.function(replace(made, causal_half=True)).macs == half


def test_softmax_runs_over_the_pairs_too():
    made = node("Attention", [(2, 4, 3, 8)] * 3, [(2, 4, 3, 8)], is_causal=1, version=23)
    rule = lookup("", "Attention", 23)
    per_score = 6  # the mask's add; softmax: max, subtract, exp, sum, divide
    dropped = rule.function(made).other_flops - rule.function(replace(made, causal_half=True)).other_flops
    assert dropped == (9 - 6) * 2 * 4 * per_score

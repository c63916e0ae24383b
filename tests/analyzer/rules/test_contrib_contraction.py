import pytest

from neural_cost.analyzer.node import Unknown
from tests.analyzer.rules.make import cost_of
from tests.analyzer.rules.table import Row, parametrize, untested

MS = "com.microsoft"
ROWS = [
    Row("fused_matmul", "FusedMatMul", [(2, 3), (3, 5)], [(2, 5)], {"alpha": 0.5}, MS, macs=2 * 5 * 3, other=2 * 5),
    Row("fused_matmul_trans_a", "FusedMatMul", [(7, 3, 2), (7, 3, 5)], [(7, 2, 5)], {"transA": 1}, MS,
        macs=7 * 2 * 5 * 3),
    Row("fused_matmul_trans_vector", "FusedMatMul", [(3,), (3, 5)], [(5,)], {"transA": 1}, MS, macs=5 * 3),
    Row("fused_matmul_trans_batch", "FusedMatMul", [(2, 7, 3), (7, 3, 5)], [(7, 2, 5)], {"transBatchA": 1}, MS,
        macs=7 * 2 * 5 * 3),
    Row("fused_matmul_trans_both", "FusedMatMul", [(3, 7, 2), (7, 3, 5)], [(7, 2, 5)],
        {"transBatchA": 1, "transA": 1}, MS, macs=7 * 2 * 5 * 3),
    Row("transpose_matmul", "TransposeMatMul", [(2, 3), (5, 3)], [(2, 5)], {"transB": 1}, MS, macs=2 * 5 * 3),
    Row("fused_matmul_activation", "FusedMatMulActivation", [(2, 3), (3, 5)], [(2, 5)],
        {"activation": "Tanh", "alpha": 2.0}, MS, macs=2 * 5 * 3, other=2 * 5 * (1 + 1), special=2 * 5),
    Row("fused_gemm", "FusedGemm", [(2, 3), (5, 3), (5,)], [(2, 5)], {"transB": 1, "activation": "LeakyRelu"}, MS,
        macs=2 * 5 * 3, other=2 * 5 * (1 + 2)),  # add C; compare, multiply
    Row("gemm_fast_gelu", "GemmFastGelu", [(4, 2, 3), (3, 5), (5,)], [(4, 2, 5)], {}, MS,
        macs=4 * 2 * 5 * 3, other=4 * 2 * 5 * (1 + 8), special=4 * 2 * 5),
    Row(
        "gemm_float8", "GemmFloat8",
        [((2, 3), "float8e4m3fn"), ((5, 3), "float8e4m3fn"), ((5,), "float16"), (1,), (1,), (1,)],
        [((2, 5), "float16")], {"transB": 1, "beta": 0.5, "activation": "RELU"}, MS,
        macs=2 * 5 * 3, other=2 * 5 * (1 + 1 + 1 + 1) + 5,  # scale, scale of Y, add C, relu; beta on C
        compute_type="float8e4m3fn", other_type="float32",
    ),
    Row("gemm_float8_without_c", "GemmFloat8", [(2, 3), (3, 5), (5,)], [(2, 5)], {}, MS, macs=2 * 5 * 3),  # beta is 0
    Row(
        "router_gate_up", "RouterGateUpProj", [(2, 3, 8), (8, 4 + 2 * 6)], [(2, 3, 4), (2, 3, 6)],
        {"router_size": 4, "limit": 7.0, "activation_alpha": 1.7, "activation_beta": 1.0}, MS,
        macs=2 * 3 * 8 * 16,
        other=36 * (3 + 1 + 3 + 1 + 1 + 1),  # clamps, alpha, sigmoid, times g, + beta, times l
        special=36 * 2,
    ),
    Row("router_without_gate", "RouterGateUpProj", [(2, 3, 8), (8, 16)], [(2, 3, 4)], {"router_size": 4}, MS,
        macs=2 * 3 * 8 * 16),
    Row(
        "hyper_connection_low_rank", "HyperConnectionLowRankMix",
        [(5, 4 * 8), (32,), (32, 6), (6, 32), (32, 4), (5, 8), (5, 4)], [(5, 8), (5, 4), (5, 32)],
        {"num_branches": 4}, MS,
        macs=5 * 32 * (6 + 6 + 4),  # down, up, inject
        other=160 * 2  # the block before
        + 160 * 3 + 20 * 3 + 160  # RMS: square, add, divide; mean, epsilon, root; scale
        + 5 * 6 * (4 + 1)  # silu and its scale
        + 160 * 3 + 160 * 2 + 40  # sigmoid of the gate, multiply and add, scale of the output
        + 20 * (1 + 3 + 1),  # divide, sigmoid, multiply
        special=160 + 20 * 2 + 30 * 2 + 160 * 2 + 20 * (1 + 2),
    ),
    Row("hyper_connection_post", "HyperConnectionPostMix", [(5, 4, 8), (5, 8), (5, 4), (5, 4, 4)], [(5, 4, 8)],
        domain=MS, macs=5 * 4 * 4 * 8, other=2 * 5 * 4 * 8),
    Row("hyper_connection_post_identity", "HyperConnectionPostMix", [(5, 4, 8), (5, 8), (5, 4)], [(5, 4, 8)],
        domain=MS, other=2 * 5 * 4 * 8),
    Row("hyper_connection_pre", "HyperConnectionPreMix", [(5, 4, 8), (5, 4)], [(5, 8)], {"reduction_scale": 0.5}, MS,
        other=2 * 5 * 4 * 8 + 5 * 8),
]  # fmt: skip

UNKNOWN = {("com.microsoft", "SparseToDenseMatMul")}


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["contrib_contraction"], ROWS) == UNKNOWN


def test_a_sparse_operand_is_unknown() -> None:
    with pytest.raises(Unknown, match="stored"):
        cost_of("SparseToDenseMatMul", [(2, 3), (3, 5)], [(2, 5)], MS)

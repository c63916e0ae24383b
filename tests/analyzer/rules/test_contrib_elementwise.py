from tests.analyzer.rules.make import tensor
from tests.analyzer.rules.table import Row, parametrize, untested

MS = "com.microsoft"
X = (2, 3, 4)
N = 24
RATIO, ON = (), tensor("mode", (), "bool", True)

ROWS = [
    Row("bias_add", "BiasAdd", [X, (4,), X], [X], domain=MS, other=2 * N, read=4 * (N + 4 + N)),
    Row("bias_gelu", "BiasGelu", [X, (4,)], [X], domain=MS, other=(1 + 5) * N, special=N, read=4 * (N + 4)),
    Row("bias_softmax", "BiasSoftmax", [X, (4,)], [X], domain=MS, other=(1 + 5) * N, special=2 * N),
    # two halves with bias, a Gelu of the right one, their product
    Row("bias_split_gelu", "BiasSplitGelu", [X, (4,)], [(2, 3, 2)], domain=MS, other=(2 + 5 + 1) * 12, special=12),
    Row("gelu", "Gelu", [X], [X], domain=MS, other=5 * N, special=N),
    Row("scaled_silu", "ScaledSiLU", [X], [X], domain=MS, other=(1 + 4) * N, special=2 * N),
    Row("fast_gelu", "FastGelu", [X], [X], domain=MS, other=8 * N, special=N),
    Row("fast_gelu_bias", "FastGelu", [X, (4,)], [X], domain=MS, other=9 * N, special=N),
    Row("quick_gelu", "QuickGelu", [X], [X], domain=MS, other=5 * N, special=2 * N),
    Row("quick_gelu_silu", "QuickGelu", [X], [X], {"alpha": 1.0}, domain=MS, other=4 * N, special=2 * N),
    Row("swiglu", "SwiGLU", [X, X], [X], domain=MS, other=(4 + 1) * N, special=2 * N),
    # scale; min, min, max; add
    Row("swiglu_clamped", "SwiGLU", [(2, 3, 8)], [X], {"activation_alpha": 1.7, "activation_beta": 1.0, "limit": 7.0},
        domain=MS, other=(4 + 1 + 1 + 3 + 1) * N, special=2 * N),
    Row("bias_dropout", "BiasDropout", [X, (4,)], [X], domain=MS, other=N),
    Row("bias_dropout_residual", "BiasDropout", [X, (4,), X], [X], domain=MS, other=2 * N),
    Row("bias_dropout_training", "BiasDropout", [X, (4,), X, RATIO, ON], [X, (X, "bool")], domain=MS,
        other=(2 + 4) * N, write=4 * N + N),
    Row("bitmask_bias_dropout", "BitmaskBiasDropout", [X, (4,)], [X, ((1,), "uint32")], domain=MS, other=N,
        write=4 * N + 4),
    Row("bitmask_dropout", "BitmaskDropout", [X], [X], domain=MS, read=0, write=0),
    Row("bitmask_dropout_mask", "BitmaskDropout", [X], [X, ((1,), "uint32")], domain=MS, read=0, write=4),
    Row("bitmask_dropout_training", "BitmaskDropout", [X, RATIO, ON], [X], domain=MS, other=4 * N),
    Row("gated_add", "GatedAdd", [X, X, (2, 3, 1)], [X], domain=MS, other=2 * N),
    # 6 rows of 5; EXP, add, DIVIDE
    Row("gated_add_projected", "GatedAdd", [X, X, (2, 3, 5), (5, 1)], [X], domain=MS,
        macs=6 * 5, other=2 * N + 6 * 3, special=6 * 2),
    Row("is_all_finite", "IsAllFinite", [X, (7,)], [((), "bool")], domain=MS, other=2 * (N + 7), write=1),
    Row("dynamic_time_warping", "DynamicTimeWarping", [(4, 6)], [((2, 7), "int32")], domain=MS, other=3 * 24),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["contrib_elementwise"], ROWS) == set()

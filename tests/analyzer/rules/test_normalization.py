from tests.analyzer.rules.table import Row, parametrize, untested

X = (2, 6, 4, 5)
N = 2 * 6 * 4 * 5
HALF = (X, "float16")

ROWS = [
    # an element: sum, subtract, square, sum, multiply; a row: DIVIDE, DIVIDE, add, SQRT, DIVIDE
    Row("layer_norm", "LayerNormalization", [(2, 8, 16), (16,), (16,)], [(2, 8, 16)],
        other=(5 + 2) * 256 + 5 * 16, special=4 * 16,  # 16 rows; scale and bias
        read=4 * (256 + 16 + 16), write=4 * 256),
    Row("layer_norm_no_bias", "LayerNormalization", [(2, 8, 16), (16,)], [(2, 8, 16)],
        other=(5 + 1) * 256 + 5 * 16, special=4 * 16),
    Row("layer_norm_with_statistics", "LayerNormalization", [(2, 8, 16), (8, 16), (8, 16)],
        [(2, 8, 16), (2, 1, 1), (2, 1, 1)], {"axis": 1},
        other=7 * 256 + 5 * 2, special=4 * 2, write=4 * (256 + 2 + 2)),  # 2 rows of 128
    Row("layer_norm_half", "LayerNormalization", [HALF, ((5,), "float16")], [HALF],
        other=6 * N + 5 * 48, special=4 * 48, other_type="float32"),  # stash_type 1
    Row("layer_norm_half_throughout", "LayerNormalization", [HALF, ((5,), "float16")], [HALF], {"stash_type": 10},
        other=6 * N + 5 * 48, special=4 * 48, other_type="float16"),
    Row("layer_norm_double", "LayerNormalization", [((3, 4), "float64"), ((4,), "float64")], [((3, 4), "float64")],
        other=6 * 12 + 5 * 3, special=4 * 3, other_type="float64"),
    # an element: square, sum, DIVIDE, scale; a row: DIVIDE, add, SQRT
    Row("rms_norm", "RMSNormalization", [(2, 8, 16), (16,)], [(2, 8, 16)], version=23,
        other=4 * 256 + 3 * 16, special=256 + 2 * 16),
    Row("simplified_layer_norm", "SimplifiedLayerNormalization", [(2, 8, 16), (16,)], [(2, 8, 16), (2, 8, 1)],
        other=4 * 256 + 3 * 16, special=256 + 2 * 16, write=4 * (256 + 16)),
    Row("instance_norm", "InstanceNormalization", [X, (6,), (6,)], [X],
        other=(5 + 2) * N + 5 * (2 * 6), special=4 * (2 * 6)),
    Row("group_norm", "GroupNormalization", [X, (6,), (6,)], [X], {"num_groups": 3},
        other=(5 + 2) * N + 5 * (2 * 3), special=4 * (2 * 3)),
    Row("group_norm_18", "GroupNormalization", [X, (3,), (3,)], [X], {"num_groups": 3}, version=18,
        other=(5 + 2) * N + 5 * (2 * 3), special=4 * (2 * 3), read=4 * (N + 3 + 3)),
    Row("mvn", "MeanVarianceNormalization", [X], [X], other=5 * N + 5 * 6, special=4 * 6),  # one row a channel
    Row("mvn_axes", "MeanVarianceNormalization", [X], [X], {"axes": [2, -1]}, other=5 * N + 5 * 12, special=4 * 12),
    # an element: multiply, add; a channel: add, SQRT, DIVIDE, multiply, subtract
    Row("batch_norm", "BatchNormalization", [X, (6,), (6,), (6,), (6,)], [X],
        other=2 * N + 5 * 6, special=2 * 6, read=4 * (N + 4 * 6), write=4 * N),
    Row("batch_norm_per_activation", "BatchNormalization", [X, *[(6, 4, 5)] * 4], [X], {"spatial": 0}, version=7,
        other=2 * N + 5 * 120, special=2 * 120),
    # the statistics: sum, subtract, square, sum; DIVIDE, DIVIDE; two running ones of 3 FLOPs a channel
    Row("batch_norm_training", "BatchNormalization", [X, (6,), (6,), (6,), (6,)], [X, (6,), (6,)],
        {"training_mode": 1}, version=15,
        other=(2 + 4) * N + (5 + 2 + 2 * 3) * 6, special=(2 + 2) * 6),
    Row("batch_norm_old_training", "BatchNormalization", [X, (6,), (6,), (6,), (6,)], [X, (6,), (6,), (6,), (6,)],
        version=9, other=(2 + 4) * N + (5 + 2 + 2 * 3) * 6, special=(2 + 2) * 6),
    # an element: square, 3 adds, multiply, add, POW, DIVIDE
    Row("lrn", "LRN", [X], [X], {"size": 3}, other=(1 + 3 + 1 + 1 + 1 + 1) * N, special=2 * N),
    # an element: square, sum, DIVIDE; a row: SQRT
    Row("lp_norm_2", "LpNormalization", [X], [X], {"axis": 1}, other=3 * N + 40, special=N + 40),
    Row("lp_norm_1", "LpNormalization", [X], [X], {"p": 1}, other=3 * N, special=N),  # absolute; no root
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["normalization"], ROWS) == set()

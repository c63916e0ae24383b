from tests.analyzer.rules.table import Row, parametrize, untested

MS = "com.microsoft"
X = ((2, 3, 4), "uint8")
N = 24
S, Z = (), ((), "uint8")  # a scale, a zero point
IN, OUT = 3, 6  # convert, subtract, multiply; DIVIDE, round, add, two clamps, convert

ROWS = [
    Row("sigmoid", "QLinearSigmoid", [X, S, Z, S, Z], [X], domain=MS, other=(IN + 3 + OUT) * N, special=(2 + 1) * N,
        read=N + 2 * (4 + 1), write=N, other_type="float32"),
    Row("sigmoid_no_zero_points", "QLinearSigmoid", [X, S, None, S], [X], domain=MS,
        other=(IN - 1 + 3 + OUT - 1) * N, special=3 * N),
    Row("leaky_relu", "QLinearLeakyRelu", [X, S, Z, S, Z], [X], domain=MS, other=(IN + 2 + OUT) * N, special=N),
    Row("softmax", "QLinearSoftmax", [X, S, Z, S, Z], [X], domain=MS, other=(IN + 5 + OUT) * N, special=3 * N),
    Row("add", "QLinearAdd", [X, S, Z, X, S, Z, S, Z], [X], domain=MS, other=2 * IN * N + (1 + OUT) * N, special=N,
        read=2 * N + 3 * 4 + 3, write=N),
    Row("mul_broadcast", "QLinearMul", [X, S, Z, ((4,), "uint8"), S, Z, S, Z], [X], domain=MS,
        other=IN * (N + 4) + (1 + OUT) * N, special=N),
    Row("concat", "QLinearConcat", [S, Z, X, S, Z, ((2, 3, 1), "uint8"), S, Z], [((2, 3, 5), "uint8")], {"axis": 2},
        domain=MS, other=IN * (24 + 6) + OUT * 30, special=30),
    Row("where", "QLinearWhere", [((2, 3, 4), "bool"), X, S, Z, X, S, Z, S, Z], [X], domain=MS,
        other=2 * IN * N + OUT * N, special=N),
    Row("reduce_mean", "QLinearReduceMean", [X, S, Z, S, Z], [((2, 3, 1), "uint8")], {"axes": [2]}, domain=MS,
        other=(IN + 1) * N + (1 + OUT) * 6, special=(1 + 1) * 6),
    Row("global_average_pool", "QLinearGlobalAveragePool", [((1, 8, 8, 3), "uint8"), S, Z, S, Z],
        [((1, 1, 1, 3), "uint8")], {"channels_last": 1}, domain=MS,
        other=(IN + 1) * 192 + (1 + OUT) * 3, special=2 * 3),
    # every element once into floating point; 4 adds for each of 48 results
    Row("average_pool", "QLinearAveragePool", [((1, 3, 8, 8), "uint8"), S, Z, S, Z], [((1, 3, 4, 4), "uint8")],
        {"kernel_shape": [2, 2], "strides": [2, 2]}, domain=MS,
        other=IN * 192 + (4 + 1 + OUT) * 48, special=2 * 48, read=192 + 2 * (4 + 1)),
    Row("average_pool_nhwc_skips", "QLinearAveragePool", [((1, 8, 8, 3), "uint8"), S, Z, S, Z],
        [((1, 4, 4, 3), "uint8")], {"kernel_shape": [1, 2], "strides": [2, 2], "channels_last": 1}, domain=MS,
        other=IN * 96 + (2 + 1 + OUT) * 48, special=2 * 48, read=96 + 2 * (4 + 1)),
    Row("ordered_gelu", "QOrderedGelu", [((6,), "int8"), S, S], [((6,), "int8")], domain=MS,
        other=(2 + 5 + 5) * 6, special=2 * 6, other_type="float32"),  # no zero points
    Row("mul_integer", "MulInteger", [X, Z, ((4,), "uint8"), Z], [((2, 3, 4), "int32")], domain=MS,
        other=N + N + 4, other_type="int32"),
    Row("mul_integer_no_zero_points", "MulInteger", [X, None, X], [((2, 3, 4), "int32")], domain=MS, other=N),
    Row("reduce_sum_integer", "ReduceSumInteger", [X], [((2, 3, 1), "int32")], domain=MS, other=N,
        other_type="int32"),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["quantized_elementwise"], ROWS) == set()

from tests.analyzer.rules.table import Row, parametrize, untested

TRAINING = "ai.onnx.preview.training"
RATE = [(), ((), "int64")]  # and the step count

ROWS = [
    # multiply, add; SQRT, add; multiply, DIVIDE, subtract: of two tensors
    Row("adagrad", "Adagrad", [*RATE, (3, 4), (5,), (3, 4), (5,), (3, 4), (5,)], [(3, 4), (5,), (3, 4), (5,)],
        domain=TRAINING, other=17 * 7, special=17 * 2, read=4 + 8 + 3 * 4 * 17, write=2 * 4 * 17),
    # 3; 4; SQRT, add; multiply, DIVIDE, subtract
    Row("adam", "Adam", [*RATE, (10,), (10,), (10,), (10,)], [(10,), (10,), (10,)], domain=TRAINING,
        other=10 * (3 + 4 + 2 + 3), special=10 * 2, other_type="float32"),
    Row("adam_decays", "Adam", [*RATE, (10,), (10,), (10,), (10,)], [(10,), (10,), (10,)],
        {"norm_coefficient": 0.1, "norm_coefficient_post": 0.1}, domain=TRAINING,
        other=10 * (2 + 3 + 4 + 2 + 3 + 1), special=10 * 2),
    # two multiplies, add; multiply, subtract
    Row("momentum", "Momentum", [*RATE, (10,), (10,), (10,)], [(10,), (10,)], {"mode": "standard"}, domain=TRAINING,
        other=10 * (3 + 2)),
    Row("nesterov", "Momentum", [*RATE, (10,), (10,), (10,)], [(10,), (10,)], {"mode": "nesterov"}, domain=TRAINING,
        other=10 * (3 + 4)),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["optimizers"], ROWS) == set()

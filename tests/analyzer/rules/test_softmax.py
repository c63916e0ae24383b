from tests.analyzer.rules.table import Row, parametrize, untested

X = (2, 3, 4, 5)
N = 2 * 3 * 4 * 5

ROWS = [
    # max, subtract, EXP, sum, DIVIDE
    Row("softmax", "Softmax", [X], [X], other=5 * N, special=2 * N, read=4 * N, write=4 * N),
    Row("softmax_half", "Softmax", [(X, "float16")], [(X, "float16")], {"axis": 1}, other=5 * N, special=2 * N,
        read=2 * N, other_type="float16"),
    # max, subtract, EXP, sum, subtract; the LOG of a row's sum
    Row("log_softmax_last", "LogSoftmax", [X], [X], other=5 * N + 2 * 3 * 4, special=N + 2 * 3 * 4),
    Row("log_softmax_inner", "LogSoftmax", [X], [X], {"axis": 1}, other=5 * N + 2 * 4 * 5, special=N + 2 * 4 * 5),
    # before opset 13 the rows are all that follows the axis, 1 by default
    Row("log_softmax_flattened", "LogSoftmax", [X], [X], version=11, other=5 * N + 2, special=N + 2),
    Row("log_softmax_flattened_2", "LogSoftmax", [X], [X], {"axis": -2}, version=11, other=5 * N + 2 * 3,
        special=N + 2 * 3),
    Row("hardmax", "Hardmax", [X], [X], other=N),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["softmax"], ROWS) == set()

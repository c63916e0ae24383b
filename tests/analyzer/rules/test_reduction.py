from tests.analyzer.rules.make import tensor
from tests.analyzer.rules.table import Row, parametrize, untested

X = (2, 3, 5)
Y = (2, 1, 5)
AXES = ((1,), "int64")
NO_AXES = ((0,), "int64")

ROWS = [
    Row("sum", "ReduceSum", [X, AXES], [Y], other=30, read=4 * 30 + 8, write=4 * 10),
    Row("sum_attribute", "ReduceSum", [X], [Y], {"axes": [1]}, version=11, other=30, read=4 * 30),
    Row("sum_noop", "ReduceSum", [X], [X], {"noop_with_empty_axes": 1}, read=4 * 30),
    Row("sum_noop_empty", "ReduceSum", [X, NO_AXES], [X], {"noop_with_empty_axes": 1}),
    Row("sum_all", "ReduceSum", [X, NO_AXES], [()], other=30),
    Row("sum_known_axes", "ReduceSum", [X, tensor("axes", (1,), "int64", [1])], [Y], {"noop_with_empty_axes": 1},
        other=30),
    Row("max", "ReduceMax", [X, AXES], [Y], other=30),
    Row("min", "ReduceMin", [X, AXES], [Y], other=30),
    Row("prod", "ReduceProd", [X, AXES], [Y], other=30),
    Row("mean", "ReduceMean", [X, AXES], [Y], other=30 + 10, special=10),  # a DIVISION for each result
    Row("mean_noop", "ReduceMean", [X], [X], {"noop_with_empty_axes": 1}),
    Row("l1", "ReduceL1", [X, AXES], [Y], other=2 * 30),  # absolute, add
    Row("l2", "ReduceL2", [X, AXES], [Y], other=2 * 30 + 10, special=10),  # square, add; SQRT
    Row("sum_square", "ReduceSumSquare", [X, AXES], [Y], other=2 * 30),
    Row("sum_square_noop", "ReduceSumSquare", [X], [X], {"noop_with_empty_axes": 1}, other=30),
    Row("log_sum", "ReduceLogSum", [X, AXES], [Y], other=30 + 10, special=10),
    # max, subtract, EXP, add; LOG, add
    Row("log_sum_exp", "ReduceLogSumExp", [X, AXES], [Y], other=4 * 30 + 2 * 10, special=30 + 10),
    Row("arg_max", "ArgMax", [X], [((2, 5), "int64")], {"axis": 1}, other=30, read=4 * 30, write=8 * 10),
    Row("arg_min", "ArgMin", [X], [((2, 5), "int64")], {"axis": 1}, other=30),
    Row("cum_sum", "CumSum", [X, ((), "int64")], [X], other=30, read=4 * 30 + 8, write=4 * 30),
    Row("cum_prod", "CumProd", [X, ((), "int64")], [X], version=26, other=30),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["reduction"], ROWS) == set()

from tests.analyzer.rules.table import Row, parametrize, untested

TARGETS = ((4, 5), "int64")
INPUT = (4, 10, 5)

ROWS = [
    # 20 targets of 200 elements: negate, add; one DIVISION
    Row("nll_mean", "NegativeLogLikelihoodLoss", [INPUT, TARGETS], [()], other=20 * 2 + 1, special=1,
        read=4 * 20 + 8 * 20, write=4),
    Row("nll_none", "NegativeLogLikelihoodLoss", [INPUT, TARGETS], [(4, 5)], {"reduction": "none"}, other=20,
        write=80),
    # negate, compare, multiply, add
    Row("nll_sum_weighted", "NegativeLogLikelihoodLoss", [INPUT, TARGETS, (10,)], [()],
        {"reduction": "sum", "ignore_index": -1}, other=20 * 4, read=4 * 20 + 8 * 20 + 40),
    Row("nll_mean_weighted", "NegativeLogLikelihoodLoss", [INPUT, TARGETS, (10,)], [()],
        other=20 * 3 + 20 + 1, special=1),  # the weights are summed too
    # max, subtract, EXP, sum, subtract; LOG of 20 rows; negate, add; one DIVISION
    Row("cross_entropy", "SoftmaxCrossEntropyLoss", [INPUT, TARGETS], [(), INPUT],
        other=5 * 200 + 20 + 20 * 2 + 1, special=200 + 20 + 1, read=4 * 200 + 8 * 20, write=4 + 4 * 200),
]  # fmt: skip


@parametrize(ROWS)
def test_cost(row: Row) -> None:
    row.check()


def test_every_operator_has_a_row() -> None:
    assert untested(["loss"], ROWS) == set()
